-- A fixed POST: the table is enough.
wrk.method = "POST"
wrk.body = "name=value&n=1"
wrk.headers["Content-Type"] = "application/x-www-form-urlencoded"
