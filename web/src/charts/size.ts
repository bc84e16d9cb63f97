import { useLayoutEffect, useRef, useState } from "preact/hooks";

/** The width that a chart has, in CSS pixels, followed as it changes. */
export function useWidth(first = 720) {
  const ref = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(first);
  useLayoutEffect(() => {
    const el = ref.current;
    if (!el) return;
    const measure = () => {
      const w = Math.floor(el.clientWidth);
      if (w > 0) setWidth(w);
    };
    measure();
    const o = new ResizeObserver(measure);
    o.observe(el);
    return () => o.disconnect();
  }, []);
  return { ref, width };
}
