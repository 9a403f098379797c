import type { Kind } from '../kinds/definition.ts'
import type { ResourceManifest } from '../kinds/manifest.ts'
import { isReferenceSchema } from '../kinds/secret-ref.ts'
import { Text, z } from '../kinds/zod.ts'
import type { JsonObject } from '../lib/json.ts'
import { readFile } from 'node:fs/promises'
import { isNode, LineCounter, parseDocument, type Document } from 'yaml'

export type Shape = Readonly<Record<string, z.core.$ZodType>>

/** The fields of `spec` as a request sends them: secrets are texts, not references. */
export function bodyShape({ schema }: Pick<Kind, 'schema'>): Shape {
  const { service: _ofManifests, ...shape } = shapeIn(shapeIn(schema)['spec'])
  return mapped(shape, onTheWire)
}

export function shapeIn(schema: z.core.$ZodType | undefined): Shape {
  if (schema instanceof z.ZodOptional) return shapeIn(schema.unwrap())
  if (schema instanceof z.ZodArray) return shapeIn(schema.element)
  return schema instanceof z.ZodObject ? schema.shape : {}
}

export function required(schema: z.core.$ZodType | undefined): z.core.$ZodType {
  return schema instanceof z.ZodOptional ? schema.unwrap() : (schema ?? z.never())
}

export function optional(schema: z.core.$ZodType | undefined): z.core.$ZodType {
  return z.optional(required(schema))
}

/** Leaves lists unchanged, because no list contains a secret reference. */
function onTheWire(schema: z.core.$ZodType): z.core.$ZodType {
  if (isReferenceSchema(schema)) return Text
  if (schema instanceof z.ZodOptional) return z.optional(onTheWire(schema.unwrap()))
  return schema instanceof z.ZodObject ? z.strictObject(mapped(schema.shape, onTheWire)) : schema
}

export function mapped<T>(shape: Readonly<Record<string, T>>, change: (field: T) => z.core.$ZodType): Shape {
  return Object.fromEntries(Object.entries(shape).map(([name, field]) => [name, change(field)]))
}

/** Casts a body for a kind's `rules` and `states`. The cast is safe, because both read only checked fields. */
export function asManifest(body: JsonObject, policy: JsonObject = {}): ResourceManifest {
  return { spec: body, policy } as unknown as ResourceManifest // its secrets are texts
}

export function rulesBrokenBy({ rules }: Pick<Kind, 'rules'>, body: JsonObject) {
  return rules(asManifest(body))
    .filter(({ severity }) => severity === 'error')
    .map(({ path: [_spec, ...path], message }) => ({ path, words: `${path.join('.')}: ${message}` }))
}

export function wordIssues(error: z.core.$ZodError): string {
  return error.issues.map(wordIssue).join('; ')
}

/** The text contains no value, because a value might be secret. */
function wordIssue(issue: z.core.$ZodIssue): string {
  const at = issue.path.length === 0 ? 'body' : issue.path.join('.')
  if (issue.code === 'unrecognized_keys') return `${at}: unknown field ${issue.keys.join(', ')}`
  return `${at}: ${issue.message}`
}

export class SandboxFileError extends Error {
  override readonly name = 'SandboxFileError'
}

/** Reads YAML or JSON. @throws {SandboxFileError} */
export async function readSandboxFile<T>(file: string, schema: z.ZodType<T>): Promise<T> {
  const content = await readFile(file, 'utf8').catch((error: Error) => {
    throw new SandboxFileError(`${file}: cannot be read: ${error.message}`, { cause: error })
  })
  const lines = new LineCounter()
  const doc = parseDocument(content, { lineCounter: lines, prettyErrors: false, stringKeys: true })
  const at = (offset: number) => {
    const { line, col } = lines.linePos(offset)
    return `${file}:${line}:${col}`
  }
  const problems = [...doc.errors, ...doc.warnings].map(({ pos, message, code }) =>
    code === 'MULTIPLE_DOCS'
      ? `${at(pos[0])}: a second document begins here`
      : `${at(pos[0])}: is not YAML: ${message}`,
  )
  if (problems.length > 0) throw new SandboxFileError(problems.join('\n'))
  const result = schema.safeParse(valueOf(doc, file) ?? {})
  if (result.success) return result.data
  const mistakes = result.error.issues
    .map((issue) => ({ offset: offsetOf(doc, issue.path), words: wordIssue(issue) }))
    .toSorted((a, b) => a.offset - b.offset)
    .map(({ offset, words }) => `${at(offset)}: ${words}`)
  throw new SandboxFileError(mistakes.join('\n'), { cause: result.error })
}

function valueOf(doc: Document, file: string): unknown {
  try {
    return doc.toJS({ maxAliasCount: 100 })
  } catch (cause) {
    throw new SandboxFileError(`${file}: its YAML aliases cannot be resolved. Write the values out`, {
      cause,
    })
  }
}

/** Position of the path, or of its nearest existing parent. */
function offsetOf(doc: Document, path: readonly PropertyKey[]): number {
  const node = path.length === 0 ? doc.contents : doc.getIn(path, true)
  if (isNode(node) && node.range) return node.range[0]
  return path.length === 0 ? 0 : offsetOf(doc, path.slice(0, -1))
}
