package hdr

// Pack shrinks a histogram that nobody will add to: a few kilobytes are left of
// its cells. Reading it works as before and costs one pass over the cells more;
// recording into it, or merging into it, panics.
func (h *Histogram) Pack() {
	if h.packed != nil {
		return
	}
	h.packed = appendCounts([]byte{}, h.counts[:h.lastIndex()+1])
	h.counts = nil
}

// cells are the counts, for reading alone; of a packed histogram a copy.
func (h *Histogram) cells() []int64 {
	if h.packed == nil {
		return h.counts
	}
	cells := make([]int64, h.layout.length)
	for index, rest := 0, h.packed; len(rest) > 0; {
		v, n := varint(rest)
		rest = rest[n:]
		if v < 0 {
			index += int(-v)
			continue
		}
		cells[index] = v
		index++
	}
	return cells
}
