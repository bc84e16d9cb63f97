-- Three requests in one go; init sees the arguments of the command line.
local batch

init = function(args)
   local list = {}
   for i, name in ipairs(args) do
      list[i] = wrk.format("GET", "/" .. name)
   end
   batch = table.concat(list)
end

request = function() return batch end
