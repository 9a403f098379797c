/** A document of the `yaml` package, as far as it is needed here. */
interface Tree {
  getIn(path: readonly PropertyKey[], keepScalar: true): unknown
}

/** Where the value at a path begins, or the nearest one around it that is there. */
export function offsetOf(tree: Tree, path: readonly PropertyKey[]): number {
  for (let length = path.length; length >= 0; length -= 1) {
    const start = startOf(tree.getIn(path.slice(0, length), true))
    if (start !== undefined) return start
  }
  return 0
}

function startOf(node: unknown): number | undefined {
  const range = typeof node === 'object' && node !== null && 'range' in node ? node.range : undefined
  const start: unknown = Array.isArray(range) ? range[0] : undefined
  return typeof start === 'number' ? start : undefined
}
