import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { ROOT } from '../support/process.ts'

/** The last commits before the rule of subjects, and before that of words, which begins anew once landed commits break it. */
const SINCE = { subjects: '83be0c92', words: '0f5b964e' }

/** `area: Imperative`; an area is a folder, or two. */
const SUBJECT = /^[a-z][a-z0-9./ -]*(, [a-z][a-z0-9./ -]*)?: [A-Z]/
const LONGEST = 60

function log(format: string, since: string): string {
  return execFileSync('git', ['log', '--no-merges', `--format=${format}`, `${since}..HEAD`], {
    cwd: ROOT,
  }).toString()
}

test('each commit names its area, and says in 60 characters what it does', () => {
  const subjects = log('%s', SINCE.subjects).trimEnd().split('\n')
  expect(subjects.filter((subject) => subject.length > LONGEST || !SUBJECT.test(subject))).toEqual([])
})

test('commits follow the rules of words, as documents do', () => {
  const text = log('%s.%n%n%b', SINCE.words).replaceAll(/([^\n])\n(?=[^\n])/g, '$1 ')
  const words = text.match(/[A-Za-z][\w'-]*/g)?.length ?? 0
  const rules = readFileSync(`${ROOT}/test/docs/word-rules.txt`, 'utf8').match(/.+/g) ?? []
  for (const [rule = '', limit, flags, pattern = ''] of rules.map((line) => line.split('\t'))) {
    const hits = text.match(new RegExp(pattern, flags)) ?? []
    expect
      .soft(hits.length, `${rule}\n${hits.join('\n')}`)
      .toBeLessThanOrEqual(Math.ceil((Number(limit) * words) / 1_000))
  }
})
