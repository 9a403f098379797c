import { PassThrough } from 'node:stream'
import { expect, test } from 'vitest'
import { paintFor, plainText, sheetOf } from '../../src/cli/render/terminal.ts'

test.each([
  ['a bell', 'a\u0007b', 'a\ufffdb'],
  ['a cursor that goes up', 'a\u001b[2Ab', 'a\ufffd[2Ab'],
  ['a title of the window', '\u001b]0;x\u0007', '\ufffd]0;x\ufffd'],
  ['a sequence that is one character', '\u009b2J', '\ufffd2J'],
])('%s does nothing to a terminal', (_, text, shown) => {
  expect(plainText(text)).toBe(shown)
})

test('lines, tabs and our own colours stay', () => {
  const paint = paintFor({ stdout: Object.assign(new PassThrough(), { isTTY: true }), env: {} })
  const text = `a\n\t${paint(['red', 'bold'], 'error')}`
  expect(text).toContain('\u001b[31m')
  expect(plainText(text)).toBe(text)
})

test.each([
  ['a terminal', { isTTY: true, columns: 80 }, 80],
  ['one that does not know its width', { isTTY: true, columns: 0 }, Infinity],
  ['a pipe', {}, Infinity],
])('the width of %s', (_, members, width) => {
  expect(sheetOf({ stdout: Object.assign(new PassThrough(), members), env: {} }).width).toBe(width)
})
