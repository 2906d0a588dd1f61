"""Who works on it: the stream processors, the pure domain they call and the adapters they reach stores with."""
