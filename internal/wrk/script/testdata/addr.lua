-- Spread the threads over the addresses that accept connections.
local addrs

function setup(thread)
   if not addrs then
      addrs = wrk.lookup(wrk.host, wrk.port or "http")
      for i = #addrs, 1, -1 do
         if not wrk.connect(addrs[i]) then table.remove(addrs, i) end
      end
   end
   thread.addr = addrs[(#wrk.addrs % #addrs) + 1]
   wrk.addrs[#wrk.addrs + 1] = thread.addr
end

function init(args)
   print("thread addr: " .. tostring(wrk.thread.addr))
end
