-- Number the threads in setup, stop each after a number of answers, add up.
local threads = {}

function setup(thread)
   threads[#threads + 1] = thread
   thread:set("id", #threads)
   thread:set("limit", 2)
end

function init(args)
   answers = 0
   wrk.path = "/thread" .. id
end

function response(status)
   answers = answers + 1
   if answers == limit then wrk.thread:stop() end
end

function done()
   local sum = 0
   for _, t in ipairs(threads) do
      sum = sum + t:get("answers")
   end
   print("answers " .. sum)
end
