UPDATE generations SET state = 'kept', live_until = clock_timestamp() WHERE state = 'live'
