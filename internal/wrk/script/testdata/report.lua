-- Percentiles as CSV, and all distinct values.
done = function(summary, latency, requests)
   io.write("percentile,latency_us\n")
   for _, p in pairs({50, 90, 99, 99.999}) do
      io.write(string.format("%g%%,%d\n", p, latency:percentile(p)))
   end
   io.stderr:write(#latency, " distinct values\n")
   for i = 1, #latency do
      local value, count = latency(i)
      io.write(value, " x ", count, "\n")
   end
   local e = summary.errors
   print(summary.duration, summary.requests, summary.bytes, e.connect, e.read, e.write, e.status, e.timeout)
   print(latency.min, latency.max, latency.mean, latency.stdev, latency.nothing, requests.mean)
end
