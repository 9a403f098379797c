import type { Key } from './key.ts'

/** Where a manifest stands, as it was last seen there. */
export interface ManifestPlace {
  readonly key: Key
  /** Relative to the manifests directory. */
  readonly file: string
  /** From 1. */
  readonly line: number
}

/** A field of a manifest that is to be set: what a person is told to write. */
export interface FieldEdit {
  /** From the document's top, such as `['policy', 'onMissing']`. */
  readonly path: readonly string[]
  /** As it is written in YAML. */
  readonly value: string
}

/**
 * Where an edit goes in a file, and what to write there. `change`: `from` stands in the line, and becomes `text`. `below`: `text` goes on a
 * line of its own below the line, where `parent:` begins, with the blanks before it. `above`: on one above the line, which begins the field `next`.
 */
export type PlacedEdit = {
  /** From 1. */
  readonly line: number
  readonly text: string
} & (
  | { readonly how: 'change'; readonly from: string }
  | { readonly how: 'below'; readonly parent: string }
  | { readonly how: 'above'; readonly next: string }
)

/** `policy: {onMissing: recreate}`: the whole of it in one line, from the part of the path that is not there yet. */
export function inOneLine({ path, value }: FieldEdit): string {
  return path.reduceRight(
    (inner, name, index) => (index === path.length - 1 ? `${name}: ${inner}` : `${name}: {${inner}}`),
    value,
  )
}
