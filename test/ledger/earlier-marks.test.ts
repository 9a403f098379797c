import { expect, test } from 'vitest'
import { decodeRecord } from '../../src/ledger/codec.ts'
import { blank, ORDERS } from './samples.ts'

/* Earlier versions remembered the permission to delete. Of that, only a request that was sent still counts. */

const SINCE = 1_700_000_000_000
const SENT = { isSent: true, sentAt: SINCE + 600_000 }
const DIGEST = 'sha256:abc'

type Row = readonly [why: string, stored: object, read: object]
const ASKED = { since: SINCE, ...SENT }
const DONE = { ...ASKED, isAnswered: true }
const NEXT = { ...ASKED, digest: DIGEST }
const ABSENT = { since: SINCE, digest: 'absent', isLimited: true }

const ROWS: readonly Row[] = [
  ['no permission', {}, {}],
  ['a permission, and a manifest that is there', { onRemove: 'delete' }, {}],
  ['the manifest is gone', { onRemove: 'delete', removal: { since: SINCE } }, {}],
  ['the pipe is kept', { onRemove: 'delete', removal: { since: SINCE, isKept: true } }, {}],
  ['the pipe is kept, by digest', { removal: { since: SINCE, digest: DIGEST, isKept: true } }, {}],
  ['the request was sent', { onRemove: 'delete', removal: ASKED }, { removal: ASKED }],
  ['the service answered', { onRemove: 'delete', removal: { ...DONE, isKept: true } }, { removal: DONE }],
  ['other manifests block it', { removal: { since: SINCE, heldBy: 'manifests' } }, {}],
  ['the limit blocks it', { removal: { since: SINCE, digest: DIGEST, heldBy: 'limit' } }, {}],
  ['a replacement was sent', { removal: { ...NEXT, heldBy: 'limit' } }, { removal: NEXT }],
  ['a manifest asks for the deletion', { removal: ABSENT }, { removal: ABSENT }],
]

test.each(ROWS)('%s', (_why, stored, read) => {
  const record = { ...blank(ORDERS), version: 1 }
  const body = JSON.stringify({ ...record, ...stored })
  expect(decodeRecord({ key: ORDERS, version: 1, body })).toEqual({ ...record, ...read })
})
