import type { Stated } from '../../contract/catalog.ts'
import { isObject } from '../../lib/json.ts'
import { nearest } from '../../lib/nearest.ts'
import { MANIFEST_KINDS, isLockable, knownKey } from '../../kinds/lookup.ts'
import { API_VERSION, Metadata, ResourceName } from '../../kinds/manifest.ts'
import { errorStatement } from '../diagnostics/diagnostic.ts'
import { type FieldFinding } from '../../kinds/finding.ts'
import { valueFinding } from './shape.ts'
import { looksLikeToken } from '../diagnostics/mask-lines.ts'
import { printable } from '../../lib/shown-text.ts'
import { keyOf, type Key } from '../../kinds/key.ts'
import { LOCK, LockedId } from '../../kinds/lock/schema.ts'

export function outlineFinding(value: unknown): FieldFinding | undefined {
  if (!isObject(value))
    return valueFinding(
      [],
      'not-a-mapping',
      'A manifest is a mapping, and this document is not.',
      'Begin with "apiVersion: pipewright/v1".',
    )
  const { kind, apiVersion } = value
  if (typeof kind !== 'string' || !MANIFEST_KINDS.includes(kind)) {
    const isShown = typeof kind === 'string' && kind.length <= 64 && !looksLikeToken(kind)
    const meant = typeof kind === 'string' ? nearest(kind, MANIFEST_KINDS) : undefined
    return valueFinding(
      ['kind'],
      'unknown-kind',
      isShown ? `Pipewright has no kind "${printable(kind)}".` : 'The field "kind" is missing or unknown.',
      meant === undefined
        ? `Set "kind" to one of ${MANIFEST_KINDS.join(', ')}. If the file belongs to another program, add it to .pipewrightignore.`
        : `Did you mean "${meant}"?`,
    )
  }
  if (apiVersion === undefined || apiVersion === API_VERSION) return undefined
  return valueFinding(
    ['apiVersion'],
    'wrong-api-version',
    `The apiVersion must be "${API_VERSION}"; there is no other.`,
    `Write "apiVersion: ${API_VERSION}".`,
  )
}

export interface Identity {
  readonly kind: string | undefined
  readonly name: string | undefined
  /** Undefined for a `Lock`, and if the kind or the name is unknown. */
  readonly key: Key | undefined
}

export function manifestIdentity(value: unknown): Identity {
  const { kind, metadata } = isObject(value) ? value : {}
  const known = MANIFEST_KINDS.find((candidate) => candidate === kind)
  const name = ResourceName.safeParse(isObject(metadata) ? metadata.name : undefined).data
  const hasKey = known !== undefined && known !== LOCK.name && name !== undefined
  return { kind: known, name, key: hasKey ? keyOf(known, name) : undefined }
}

const MOST_LABELS = 50
const LONGEST_CLAIM = 200

const Labels = Metadata.shape.labels

export function statedIn(value: unknown): Stated | undefined {
  if (!isObject(value)) return undefined
  const { metadata, spec, policy } = value
  const all = isObject(metadata) && isObject(metadata['labels']) ? metadata['labels'] : {}
  const labels: Record<string, string> = {}
  for (const name of Object.keys(all).slice(0, MOST_LABELS)) {
    const text = all[name]
    if (typeof text === 'string' && isLabel(name, text)) labels[name] = text
  }
  const service = ResourceName.safeParse(isObject(spec) ? spec['service'] : undefined).data
  const { renamedFrom, adopt } = isObject(policy) ? policy : {}
  const claims = [renamedFrom, adopt].flatMap((named) =>
    typeof named === 'string' && named.length <= LONGEST_CLAIM ? [named] : [],
  )
  const isEmpty = service === undefined && claims.length === 0 && Object.keys(labels).length === 0
  return isEmpty ? undefined : { labels, service, claims }
}

function isLabel(name: string, value: string): boolean {
  return Labels.safeParse({ [name]: value }).success && !looksLikeToken(name) && !looksLikeToken(value)
}

export function readLocks(value: unknown): ReadonlyMap<Key, string> {
  const locks = new Map<Key, string>()
  const spec = isObject(value) ? value.spec : undefined
  const pipes = isObject(spec) ? spec.pipes : undefined
  if (!isObject(pipes)) return locks
  for (const [text, id] of Object.entries(pipes)) {
    const key = knownKey(text)
    const parsed = LockedId.safeParse(id)
    if (key !== undefined && isLockable(key) && parsed.success) locks.set(key, parsed.data.toLowerCase())
  }
  return locks
}

/* While a file with this name is unreadable, no pipe is created, because the file might list the pipe. */

const LOCK_FILE = /(?:^|[./])lock\.(?:ya?ml|json)$/i

export function isLockFileName(file: string): boolean {
  return LOCK_FILE.test(file)
}

export const LOCK_EMPTY = errorStatement(
  'lock-empty',
  'This file has the name of a Lock file, but contains no Lock.',
  'Write the Lock into the file, or remove the file. Until then, Pipewright creates no new resource.',
)

export const LOCK_ELSEWHERE: FieldFinding = {
  severity: 'warning',
  path: ['kind'],
  code: 'lock-file-name',
  message: 'This Lock is in a file that does not have the name of a Lock file.',
  hint: 'Move the Lock to a file such as pipes.lock.yaml. If Pipewright cannot read such a file, it creates no pipes.',
}
