-- A new path for each request, counted from 1 in every thread.
local n = 0

request = function()
   n = n + 1
   return wrk.format(nil, "/item/" .. n)
end
