import type { z } from 'zod'
import type { Path } from '../diagnostics/diagnostic.ts'

/** What is looked at of a zod schema; the library offers no narrower way to walk one. */
interface Shape {
  readonly def: {
    readonly type: string
    readonly shape?: Readonly<Record<string, Shape>>
    readonly innerType?: Shape
    readonly element?: Shape
    readonly valueType?: Shape
    readonly options?: readonly Shape[]
    readonly format?: string
  }
}

/** The names of the fields that may stand at a path. */
export function knownFields(schema: z.ZodType, path: Path): readonly string[] {
  return [...new Set(shapesAt(schema, path).flatMap((shape) => Object.keys(shape.def.shape ?? {})))]
}

/** The format of the text that may stand at a path, as zod names it. */
export function formatOf(schema: z.ZodType, path: Path): string | undefined {
  return shapesAt(schema, path).find((shape) => shape.def.format !== undefined)?.def.format
}

function shapesAt(schema: z.ZodType, path: Path): readonly Shape[] {
  let shapes: readonly Shape[] = [schema]
  for (const step of path) shapes = shapes.flatMap(unwrap).flatMap((shape) => child(shape, step))
  return shapes.flatMap(unwrap)
}

/** Dotted paths of the objects in which a field of this name may stand. */
export function homesOf(schema: z.ZodType, name: string): readonly string[] {
  const homes: string[] = []
  collect(schema, '', (path, field) => {
    if (field === name) homes.push(path)
  })
  return homes
}

/** The names of all fields, wherever they may stand. */
export function allFields(schema: z.ZodType): ReadonlySet<string> {
  const names = new Set<string>()
  collect(schema, '', (_path, field) => names.add(field))
  return names
}

function collect(shape: Shape, path: string, visit: (path: string, field: string) => unknown): void {
  for (const inner of unwrap(shape)) {
    if (inner.def.element !== undefined) collect(inner.def.element, `${path}[]`, visit)
    for (const [field, next] of Object.entries(inner.def.shape ?? {})) {
      visit(path, field)
      collect(next, path === '' ? field : `${path}.${field}`, visit)
    }
  }
}

function unwrap(shape: Shape): readonly Shape[] {
  const { innerType, options } = shape.def
  if (innerType !== undefined) return unwrap(innerType)
  return options === undefined ? [shape] : options.flatMap(unwrap)
}

function child(shape: Shape, step: string | number): readonly Shape[] {
  const { shape: fields, element, valueType } = shape.def
  const next = fields?.[String(step)] ?? element ?? valueType
  return next === undefined ? [] : [next]
}
