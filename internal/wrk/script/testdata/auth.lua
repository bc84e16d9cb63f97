-- Take a token from the first good answer, then use it.
local token
local path = "/login"

function request()
   return wrk.format("GET", path)
end

function response(status, headers, body)
   if not token and status == 200 then
      token = headers["X-Token"]
      path = "/data"
      wrk.headers["X-Token"] = token
   end
end
