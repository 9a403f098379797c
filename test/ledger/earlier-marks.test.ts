import { expect, test } from 'vitest'
import { decodeRecord } from '../../src/ledger/codec.ts'
import { blank, ORDERS } from './samples.ts'

/* Earlier versions remembered the permission to delete. Of that, only a request that was sent still counts. */

const SINCE = 1_700_000_000_000
const SENT = { isSent: true, sentAt: SINCE + 600_000 }
const DIGEST = 'sha256:abc'

type Row = readonly [why: string, stored: object, read: object]

const ROWS: readonly Row[] = [
  ['no permission', {}, {}],
  ['a permission, and a manifest that is there', { onRemove: 'delete' }, {}],
  ['the manifest is gone', { onRemove: 'delete', removal: { since: SINCE } }, {}],
  ['the pipe is kept', { onRemove: 'delete', removal: { since: SINCE, isKept: true } }, {}],
  [
    'the request was sent',
    { onRemove: 'delete', removal: { since: SINCE, ...SENT } },
    { removal: { since: SINCE, ...SENT } },
  ],
  [
    'the request was sent, and the service answered',
    { onRemove: 'delete', removal: { since: SINCE, ...SENT, isAnswered: true, isKept: true } },
    { removal: { since: SINCE, ...SENT, isAnswered: true } },
  ],
  ['other manifests block it', { removal: { since: SINCE, heldBy: 'manifests' } }, {}],
  ['the limit blocks it', { removal: { since: SINCE, digest: DIGEST, heldBy: 'limit' } }, {}],
  [
    'a replacement was sent',
    { removal: { since: SINCE, digest: DIGEST, ...SENT, heldBy: 'limit' } },
    { removal: { since: SINCE, digest: DIGEST, ...SENT } },
  ],
  [
    'a manifest asks for the deletion',
    { removal: { since: SINCE, digest: 'absent', isLimited: true } },
    { removal: { since: SINCE, digest: 'absent', isLimited: true } },
  ],
]

test.each(ROWS)('%s', (_why, stored, read) => {
  const record = { ...blank(ORDERS), version: 1 }
  const body = JSON.stringify({ ...record, ...stored })
  expect(decodeRecord({ key: ORDERS, version: 1, body })).toEqual({ ...record, ...read })
})
