export interface Placed {
  /** Index in the heap; -1: not in a heap. Only the heap writes it. */
  place: number
}

export type Heap<T extends Placed> = ReturnType<typeof createHeap<T>>

/** @param before whether `a` comes first. This must not change while both are in the heap */
export function createHeap<T extends Placed>(before: (a: T, b: T) => boolean) {
  const items: T[] = []

  function put(item: T, index: number): void {
    items[index] = item
    item.place = index
  }

  function rise(item: T): void {
    let index = item.place
    while (index > 0) {
      const above = (index - 1) >> 1
      const parent = items[above]
      if (parent === undefined || !before(item, parent)) break
      put(parent, index)
      index = above
    }
    put(item, index)
  }

  function sink(item: T): void {
    let index = item.place
    for (;;) {
      const child = earlierChild(index)
      if (child === undefined || !before(child, item)) break
      const below = child.place
      put(child, index)
      index = below
    }
    put(item, index)
  }

  function earlierChild(index: number): T | undefined {
    const left = items[2 * index + 1]
    const right = items[2 * index + 2]
    return left !== undefined && right !== undefined && before(right, left) ? right : left
  }

  return {
    get size() {
      return items.length
    },
    peek: () => items[0],
    push(item: T) {
      put(item, items.length)
      rise(item)
    },
    remove(item: T) {
      const index = item.place
      if (items[index] !== item) return
      item.place = -1
      const last = items.pop()
      if (last === undefined || last === item) return
      put(last, index)
      sink(last)
      rise(last)
    },
  }
}
