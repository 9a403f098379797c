import { expect, test } from 'vitest'
import { findingsOf, parse } from './support.ts'

/* Texts that read as something that they are not: right-to-left overrides, what nobody sees, what a terminal obeys. */

function alert(labels: string, more = ''): string {
  return `apiVersion: pipewright/v1
kind: Alert
metadata: {name: lag, labels: {${labels}}}
spec: {id: a-1}
${more}`
}

const suspended = (reason: string) =>
  alert('team: data', `policy: {suspend: {reason: "${reason}", until: 2027-01-31T00:00:00Z}}\n`)

test.each([
  ['team: data'],
  ['"example.com/team": data'],
  ['a.b-c_d: A.b-C_1, x: ""'],
  [`${'k'.repeat(63)}: ${'v'.repeat(63)}`],
  [`"${'d'.repeat(63)}.${'d'.repeat(63)}.example/team": data`],
])('labels of Kubernetes are taken: %s', (labels) => {
  expect(findingsOf(parse(alert(labels)))).toEqual([])
})

test.each([
  ['a key with a blank', '"my team": data'],
  ['a key that begins with a dash', '"-team": data'],
  ['a key that is too long', `${'k'.repeat(64)}: data`],
  ['a key with an empty prefix', '"/team": data'],
  ['a key with two prefixes', '"a/b/team": data'],
  ['a key with a prefix in upper case', '"Example.com/team": data'],
  ['a key with a prefix that is too long', `"${'d.'.repeat(127)}dd/team": data`],
  ['an empty key', '"": data'],
  ['a value with a blank', 'team: "a b"'],
  ['a value with a line break', 'team: "a\\nb"'],
  ['a value that a terminal obeys', 'team: "a\\e[2Jb"'],
  ['a value in another script', 'team: données'],
  ['a value that ends in a dot', 'team: data.'],
  ['a value that is too long', `team: ${'v'.repeat(64)}`],
  ['a value that is turned around', 'team: "a\\u202egnp.exe"'],
  ['a value with what nobody sees', 'team: "a\\u200bb"'],
  ['a key that is turned around', '"te\\u202eam": data'],
])('labels that Kubernetes refuses are errors with a place and a hint: %s', (_why, labels) => {
  const findings = findingsOf(parse(alert(labels))).filter(({ severity }) => severity === 'error')
  expect(findings.length).toBeGreaterThan(0)
  for (const { line, column, hint, message, lineText } of findings) {
    expect(line).toBe(3)
    expect(column).toBeGreaterThan(20)
    expect(hint).toMatch(/^[A-Z].+\.$/)
    // nothing of it draws on the screen of whoever reads the finding
    expect(message + hint + lineText).not.toMatch(/[\p{Cc}\u202e]/u)
  }
})

test.each([
  ['an override as it is', '\u202egnp.exe'],
  ['an isolate as it is', 'a \u2067right\u2069 b'],
  ['in Arabic, too', 'خط \u202eأنابيب'],
  ['an override as an escape', 'a \\u202e b'],
  ['a long escape', 'a \\U0000202E b'],
  ['an escape that a terminal obeys', 'a \\e[8m b'],
  ['a bell', 'a \\a b'],
  ['a line separator', 'a \\L b'],
  ['what nobody sees', 'a\\u200b b'],
  ['a byte order mark', 'a \\uFEFF b'],
])('a reason for a suspension that reads as something else is an error: %s', (_why, reason) => {
  const findings = findingsOf(parse(suspended(reason))).filter(({ severity }) => severity === 'error')
  expect(findings.length).toBeGreaterThan(0)
  for (const { line, hint } of findings) {
    expect(line).toBe(5)
    expect(hint).toMatch(/^Delete/)
  }
  expect(JSON.stringify(findings)).not.toMatch(/[\u202a-\u202e\u2066-\u2069]/)
})

test.each([['wartet auf den Umzug — naïve 🚀'], ['خط أنابيب'], ['it’s fine'], ['یک\u200cدو']])(
  'a reason in any language is taken: %s',
  (reason) => {
    expect(findingsOf(parse(suspended(reason))).filter(({ severity }) => severity === 'error')).toEqual([])
  },
)

test.each([
  ['a name on the platform', 'name: "or\\u202eders"'],
  ['a topic', 'source: {kafka: {topics: "or\\u202eders"}}'],
  ['a topic as it is', 'source: {kafka: {topics: "or\u202eders"}}'],
])('an override is an error wherever it stands: %s', (_where, field) => {
  const text = `apiVersion: pipewright/v1\nkind: Pipe\nmetadata: {name: orders}\nspec: {service: analytics, ${field}}\n`
  const codes = findingsOf(parse(text))
    .filter(({ severity }) => severity === 'error')
    .map(({ code }) => code)
  expect(codes).toContain('unseen-character')
})

test('a delimiter may be a character that nobody sees', () => {
  const source = 'source: {objectStorage: {url: "https://s.example/x", delimiter: "\\u0001"}}'
  const text = `apiVersion: pipewright/v1\nkind: Pipe\nmetadata: {name: orders}\nspec: {service: analytics, ${source}}\n`
  expect(findingsOf(parse(text))).toEqual([])
})
