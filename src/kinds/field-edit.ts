/** A field of a manifest, and the value that a person writes there. */
export interface FieldEdit {
  /** From the document's top, such as `['policy', 'onMissing']`. */
  readonly path: readonly string[]
  /** As it is written in YAML. */
  readonly value: string
}

/** `policy: {onMissing: recreate}`: the edit in one line of YAML. */
export function inOneLine({ path, value }: FieldEdit): string {
  return path.reduceRight(
    (inner, name, index) => (index === path.length - 1 ? `${name}: ${inner}` : `${name}: {${inner}}`),
    value,
  )
}
