/** What lives in a heap knows its place there, so that it can be taken out from the middle. */
export interface Placed {
  /** Index in the one heap that holds it, -1 in none. Written by the heap only. */
  place: number
}

/** A binary heap. An item is in one heap at a time; nothing dead stays behind in it. */
export interface Heap<T extends Placed> {
  readonly size: number
  /** The first item by the heap's order. */
  peek(): T | undefined
  /** O(log n). */
  push(item: T): void
  /** O(log n); nothing happens when the item is not in this heap. */
  remove(item: T): void
}

/** @param before a strict order that does not change for an item while it is in the heap */
export function createHeap<T extends Placed>(before: (a: T, b: T) => boolean): Heap<T> {
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
    push(item) {
      put(item, items.length)
      rise(item)
    },
    remove(item) {
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
