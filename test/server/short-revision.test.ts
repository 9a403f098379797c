import { expect, test } from 'vitest'
import { shortRevision } from '../../src/contract/catalog.ts'

const page = (await import(new URL('../../src/server/page/markup.js', import.meta.url).href)) as {
  readonly shortRevision: (revision: string) => string
} // as it stands there

const SHA1 = '4faf373abc0011223344556677889900aabbccdd'

test.each([
  ['a commit', SHA1, '4faf373abc'],
  ['a commit of a repository with SHA-256', SHA1 + SHA1.slice(0, 24), '4faf373abc'],
  ['a digest of the content', 'content-0123456789ab', 'content-0123456789ab'],
  ['something that is longer than any', SHA1 + SHA1, SHA1 + SHA1],
  ['none', '', ''],
])('%s is short in the same way in the shell and on the page', (_name, revision, short) => {
  expect([shortRevision(revision), page.shortRevision(revision)]).toEqual([short, short])
})
