import { isMap, isScalar, Scalar, type Pair, type YAMLMap } from 'yaml'
import { inOneLine, type FieldEdit, type ManifestPlace, type PlacedEdit } from '../../kinds/field-edit.ts'
import { kindOf, nameOf } from '../../kinds/key.ts'
import { splitDocuments, yamlDocuments } from './parse-yaml.ts'

/** Longer lines are not repeated to anybody. */
const LONGEST = 160

/**
 * Where an edit goes, so that what is there stays as it is: a field that is set is changed, and one that is not goes to its siblings. Never
 * a second field of one name.
 * @param text of the file, as it is now
 * @returns undefined when the manifest is not there any more, or it cannot be said in one line
 */
export function placeEdit(
  text: string,
  { key, line }: Pick<ManifestPlace, 'key' | 'line'>,
  { path, value }: FieldEdit,
): PlacedEdit | undefined {
  const lineStart = offsetOfLine(text, line)
  const chunk = splitDocuments(text).find(({ start, end }) => start <= lineStart && lineStart < end)
  if (chunk === undefined) return undefined
  const { documents } = yamlDocuments(text.slice(chunk.start, chunk.end))
  const [document] = documents
  if (documents.length !== 1 || document === undefined || document.errors.length > 0) return undefined
  if (document.get('kind') !== kindOf(key) || document.getIn(['metadata', 'name']) !== nameOf(key))
    return undefined
  const lines = linesFrom(text, chunk.start)
  let parent: YAMLMap | undefined
  let parentPair: Pair | undefined
  let at: unknown = document.contents
  for (const [index, name] of path.entries()) {
    if (!isMap(at))
      return belowNothing(
        at,
        parentPair,
        { path: path.slice(index), value },
        { lines, step: stepOf(document.contents, lines) },
      )
    const pair = at.items.find((item) => isScalar(item.key) && item.key.value === name)
    if (pair === undefined)
      return added({ map: at, pair: parentPair, lines }, { path: path.slice(index), value })
    parent = at
    parentPair = pair
    at = pair.value
  }
  return parent === undefined || parentPair === undefined ? undefined : changed(parentPair, value, lines)
}

/** A field that is not there yet, among those that are. */
function added(
  { map, pair, lines }: { readonly map: YAMLMap; readonly pair: Pair | undefined; readonly lines: Lines },
  edit: FieldEdit,
): PlacedEdit | undefined {
  const text = inOneLine(edit)
  if (pair === undefined) return atTop(map, text, lines)
  const key = rangeOf(pair.key)
  const inside = rangeOf(map)
  if (key === undefined || inside === undefined) return undefined
  const first = rangeOf(map.items[0]?.key)
  const indented = `${lines.indent(first?.[0] ?? key[0])}${text}`
  if (!isFlow(map)) return { how: 'below', ...lines.at(key[0]), parent: fieldOf(pair), text: indented }
  const from = lines.text(key[0], inside[1])
  // Braces over several lines: on a line of its own, where the first field has one.
  if (from === undefined)
    return first !== undefined && lines.at(first[0]).line > lines.at(inside[0]).line
      ? { how: 'below', ...lines.at(inside[0]), parent: fieldOf(pair), text: `${indented},` }
      : undefined
  const body = from.replace(/\s*\}$/, '')
  const comma = map.items.length === 0 ? '' : ', '
  return { how: 'change', ...lines.at(key[0]), from, text: `${body}${comma}${text}}` }
}

/** `policy:` with nothing below it. */
function belowNothing(
  at: unknown,
  pair: Pair | undefined,
  edit: FieldEdit,
  { lines, step }: { readonly lines: Lines; readonly step: string },
): PlacedEdit | undefined {
  const key = pair && rangeOf(pair.key)
  if (pair === undefined || key === undefined || !isScalar(at) || at.value !== null || at.source !== '')
    return undefined
  return {
    how: 'below',
    ...lines.at(key[0]),
    parent: fieldOf(pair),
    text: `${lines.indent(key[0])}${step}${inOneLine(edit)}`,
  }
}

/** How much further in this document what is below a field stands: two blanks where nothing tells. */
function stepOf(top: unknown, lines: Lines): string {
  if (!isMap(top)) return '  '
  const outer = rangeOf(top.items[0]?.key)
  const nested = top.items.find(({ value }) => isMap(value) && !isFlow(value))?.value
  const inner = isMap(nested) ? rangeOf(nested.items[0]?.key) : undefined
  if (outer === undefined || inner === undefined) return '  '
  return lines.indent(inner[0]).slice(lines.indent(outer[0]).length)
}

/** Before `spec`, where people look for it. */
function atTop(map: YAMLMap, text: string, lines: Lines): PlacedEdit | undefined {
  const next = map.items.find(({ key }) => isScalar(key) && key.value === 'spec') ?? map.items[0]
  const start = next && rangeOf(next.key)
  if (next === undefined || start === undefined) return undefined
  if (isFlow(map))
    return {
      how: 'change',
      ...lines.at(start[0]),
      from: `${fieldOf(next)}:`,
      text: `${text}, ${fieldOf(next)}:`,
    }
  return {
    how: 'above',
    ...lines.at(start[0]),
    next: fieldOf(next),
    text: `${lines.indent(start[0])}${text}`,
  }
}

/** Another value; in quotes where it was. */
function changed(pair: Pair, value: string, lines: Lines): PlacedEdit | undefined {
  const key = rangeOf(pair.key)
  const old = rangeOf(pair.value)
  if (key === undefined || old === undefined || !isScalar(pair.value)) return undefined
  const from = lines.text(key[0], old[1])
  if (from === undefined) return undefined
  const isQuoted = pair.value.type === Scalar.QUOTE_DOUBLE || pair.value.type === Scalar.QUOTE_SINGLE
  const written = isQuoted && !/^["'[{]/.test(value) ? JSON.stringify(value) : value
  return { how: 'change', ...lines.at(key[0]), from, text: `${fieldOf(pair)}: ${written}` }
}

function isFlow(map: YAMLMap): boolean {
  return map.flow === true
}

function fieldOf({ key }: Pair): string {
  return isScalar(key) ? String(key.value) : ''
}

function rangeOf(node: unknown): readonly [start: number, end: number] | undefined {
  const range = typeof node === 'object' && node !== null && 'range' in node ? node.range : undefined
  const [start, end]: readonly unknown[] = Array.isArray(range) ? range : []
  return typeof start === 'number' && typeof end === 'number' ? [start, end] : undefined
}

interface Lines {
  at(offset: number): { readonly line: number }
  /** The blanks before what begins there, when it is the first of its line. */
  indent(offset: number): string
  /** Undefined when it is more than one line, or too long to be repeated. */
  text(start: number, end: number): string | undefined
}

/** @param base where the document begins in the text */
function linesFrom(text: string, base: number): Lines {
  return {
    at: (offset) => ({ line: text.slice(0, base + offset).split('\n').length }),
    indent: (offset) =>
      / *$/.exec(text.slice(text.lastIndexOf('\n', base + offset - 1) + 1, base + offset))?.[0] ?? '',
    text(start, end) {
      const part = text.slice(base + start, base + end).trimEnd()
      return part.includes('\n') || part.length > LONGEST ? undefined : part
    },
  }
}

function offsetOfLine(text: string, line: number): number {
  let offset = 0
  for (let count = 1; count < line; count += 1) {
    const next = text.indexOf('\n', offset)
    if (next === -1) return text.length
    offset = next + 1
  }
  return offset
}
