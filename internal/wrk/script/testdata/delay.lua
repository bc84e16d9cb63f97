-- Wait 10, 20, 30 ms ... before a send.
local ms = 0
function delay()
   ms = ms + 10
   return ms
end
