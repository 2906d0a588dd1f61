-- No version becomes live in any generation until the end of the transaction; questions read on.
LOCK TABLE documents IN SHARE MODE
