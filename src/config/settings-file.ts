import { LineCounter, isMap, isScalar, parseDocument, type Node, type Pair, type Scalar } from 'yaml'
import type { SettingProblem } from './setting-problem.ts'
import { FILE_KEYS, nearestOf, type Given, type Source } from './setting-sources.ts'

/**
 * The settings of a YAML file: one mapping of the flags' names to their values.
 * @param file its name, for the messages
 */
export function parseSettingsFile(file: string, content: string): Source {
  const lines = new LineCounter()
  const doc = parseDocument(content, { lineCounter: lines, prettyErrors: false, stringKeys: true })
  const at = (offset: number) => `${file}:${lines.linePos(offset).line}`
  const problems = [...doc.errors, ...doc.warnings]
  if (problems.length > 0) {
    return {
      given: [],
      faults: problems.map((problem) => fault(at(problem.pos[0]), problem.message, 'correct the YAML')),
    }
  }
  const root = doc.contents
  if (root === null) return { given: [], faults: [] }
  if (!isMap(root)) {
    const right = `write one setting a line, such as "interval: 5m"`
    return { given: [], faults: [fault(at(startOf(root)), 'it is not a mapping', right)] }
  }
  const pairs = root.items.map((pair) => readPair(pair, at))
  return {
    given: pairs.flatMap((pair) => ('name' in pair ? [pair] : [])),
    faults: pairs.flatMap((pair) => ('name' in pair ? [] : [pair])),
  }
}

function readPair(pair: Pair, at: (offset: number) => string): Given | SettingProblem {
  const key = pair.key as Scalar // stringKeys makes every key a scalar
  const from = at(startOf(key))
  const flag = String(key.value)
  const name = FILE_KEYS.get(flag)
  if (name === undefined) {
    const why = flag === 'config' ? 'a file cannot name another one' : `there is no setting "${flag}"`
    return fault(from, why, flag === 'config' ? 'remove it' : nearestOf(flag, FILE_KEYS.keys()))
  }
  const value = pair.value
  if (!isScalar(value)) {
    const right = 'give one plain value; in quotes when it has brackets, such as "[::1]:8080"'
    return { ...fault(from, `${flag} is not one value`, right), setting: flag }
  }
  if (value.value === null) {
    return { ...fault(from, `${flag} has no value`, 'give one or remove the line'), setting: flag }
  }
  return { name, text: textOf(value), from }
}

/** As it was written: 08 stays 08, and 1e3 is no number to us. */
function textOf(scalar: Scalar): string {
  return typeof scalar.value === 'string' ? scalar.value : (scalar.source ?? String(scalar.value))
}

function startOf(node: unknown): number {
  return (node as Node).range?.[0] ?? 0 // only nodes of a parsed document come here
}

function fault(from: string, why: string, right: string): SettingProblem {
  return { setting: undefined, from, given: undefined, why, right }
}
