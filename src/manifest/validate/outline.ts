import { isObject } from '../../lib/json.ts'
import { nearest } from '../../lib/nearest.ts'
import { MANIFEST_KINDS, isLockable, knownKey } from '../../kinds/lookup.ts'
import { API_VERSION, ResourceName } from '../../kinds/manifest.ts'
import type { Path, Statement } from '../diagnostics/diagnostic.ts'
import { looksLikeToken } from '../diagnostics/mask-lines.ts'
import { printable } from '../../lib/shown-text.ts'
import { isMap, isScalar, type Document } from 'yaml'
import { keyOf, type Key } from '../../kinds/key.ts'
import { LOCK } from '../../kinds/lock/schema.ts'
import { z } from '../../kinds/zod.ts'

/** What keeps a document from being looked at any further, and where. */
export interface OutlineFinding {
  readonly path: Path
  readonly statement: Statement
}

function outlineError(path: Path, code: Statement['code'], message: string, hint: string): OutlineFinding {
  return { path, statement: { severity: 'error', code, message, hint } }
}

/** Whether it is a mapping with our `apiVersion` and a kind we know. */
export function outlineFinding(value: unknown): OutlineFinding | undefined {
  if (!isObject(value)) {
    return outlineError(
      [],
      'not-a-mapping',
      'A manifest is a mapping, and this document is not.',
      'Begin with "apiVersion: pipewright/v1".',
    )
  }
  const { kind, apiVersion } = value
  const other = Object.keys(value).find((name) => name !== 'kind' && name.toLowerCase() === 'kind')
  if (kind === undefined && other !== undefined) {
    return outlineError(
      [other],
      'unknown-kind',
      `The field "${printable(other)}" is written "kind", in lower case.`,
      'Write "kind".',
    )
  }
  if (kind === undefined || kind === null) {
    return outlineError(
      ['kind'],
      'unknown-kind',
      'The manifest has no kind.',
      `Add "kind" with one of ${MANIFEST_KINDS.join(', ')}; or, if it is no manifest of Pipewright, name it in .pipewrightignore.`,
    )
  }
  if (typeof kind !== 'string' || !MANIFEST_KINDS.includes(kind)) {
    const shown =
      typeof kind === 'string' && kind.length <= 64 && !looksLikeToken(kind)
        ? ` "${printable(kind)}"`
        : ' like this'
    const meant = typeof kind === 'string' && kind.length <= 64 ? kindMeant(kind) : undefined
    return outlineError(
      ['kind'],
      'unknown-kind',
      isKubernetes(apiVersion)
        ? `The kind${shown} is one of Kubernetes, and not of Pipewright.`
        : `There is no kind${shown}.`,
      isKubernetes(apiVersion)
        ? 'Move it out of the manifests directory, or name it in .pipewrightignore.'
        : meant === undefined
          ? `Write one of ${MANIFEST_KINDS.join(', ')}.`
          : `Did you mean "${meant}"?`,
    )
  }
  if (apiVersion !== undefined && apiVersion !== API_VERSION) {
    return outlineError(
      ['apiVersion'],
      'wrong-api-version',
      `The apiVersion must be "${API_VERSION}"; there is no other.`,
      `Write "apiVersion: ${API_VERSION}".`,
    )
  }
  return undefined
}

/** Also a part of its name, or more than it: `Endpoint`, `Pipeline`. */
function kindMeant(kind: string): string | undefined {
  const word = kind.toLowerCase()
  const holds = (each: string) => word.includes(each.toLowerCase()) || each.toLowerCase().includes(word)
  return nearest(kind, MANIFEST_KINDS) ?? (word.length < 4 ? undefined : MANIFEST_KINDS.find(holds))
}

/** The groups and versions of Kubernetes and its tools: `v1`, `apps/v1`, `kustomize.config.k8s.io/v1beta1`. */
function isKubernetes(apiVersion: unknown): boolean {
  return typeof apiVersion === 'string' && apiVersion.length <= 253 && KUBERNETES.test(apiVersion)
}

const KUBERNETES = /^(?!pipewright\/)(?:[a-z0-9.-]+\/)?v\d+(?:(?:alpha|beta)\d+)?$/

/* What can be told of a document whatever else is wrong with it. */

/** Whom a document is about, as far as it can be told. */
export interface Identity {
  readonly kind: string | undefined
  readonly name: string | undefined
  readonly key: Key | undefined
}

export const NOBODY: Identity = { kind: undefined, name: undefined, key: undefined }

/** From the value of a document. */
export function identityOf(value: unknown): Identity {
  if (!isObject(value)) return NOBODY
  const { kind, metadata } = value
  return identityFrom(kind, isObject(metadata) ? metadata.name : undefined)
}

/** The same from the syntax tree of a document that is broken elsewhere. */
export function identityOfNodes(document: Document): Identity {
  const root = document.contents
  if (!isMap(root)) return NOBODY
  const metadata = root.get('metadata', true)
  const name = isMap(metadata) ? metadata.get('name', true) : undefined
  const kind = root.get('kind', true)
  return identityFrom(isScalar(kind) ? kind.value : undefined, isScalar(name) ? name.value : undefined)
}

function identityFrom(kind: unknown, name: unknown): Identity {
  const known = MANIFEST_KINDS.find((candidate) => candidate === kind)
  const named = ResourceName.safeParse(name)
  const text = named.success ? named.data : undefined
  const key =
    known === undefined || known === LOCK.name || text === undefined ? undefined : keyOf(known, text)
  return { kind: known, name: text, key }
}

const Id = z.guid()

/** The entries of a `Lock` that are well-formed, whatever else is wrong with it. Ids in lower case. */
export function readLocks(value: unknown): ReadonlyMap<Key, string> {
  const locks = new Map<Key, string>()
  const spec = isObject(value) ? value.spec : undefined
  const pipes = isObject(spec) ? spec.pipes : undefined
  if (!isObject(pipes)) return locks
  for (const [text, id] of Object.entries(pipes)) {
    const key = knownKey(text)
    const parsed = Id.safeParse(id)
    if (key !== undefined && isLockable(key) && parsed.success) locks.set(key, parsed.data.toLowerCase())
  }
  return locks
}

/*
 * Locks live in files of their own name: of a file that nobody can read, its name is all there is to tell that it holds the
 * ids of pipes which must not be created a second time.
 */

const LOCK_FILE = /(?:^|[./])lock\.(?:ya?ml|json)$/i

/** Whether a file is one for Locks by its name: `*.lock.yaml`, or just `lock.yaml`. */
export function isLockFileName(file: string): boolean {
  return LOCK_FILE.test(file)
}

/** Said of a file that is named for Locks and holds nothing: it was cut short, or what was to be written into it failed. */
export const LOCK_EMPTY = {
  severity: 'error',
  code: 'lock-empty',
  message: 'The file is named for a Lock, and holds none.',
  hint: 'Write the Lock into it, or remove the file. Until then nothing is created that has no record.',
} as const satisfies Statement

/** Said of a Lock in a file of another name; it counts all the same. */
export const LOCK_ELSEWHERE = {
  severity: 'warning',
  code: 'lock-file-name',
  message: 'A Lock stands in a file that is not named for it.',
  hint: 'Move it to a file named *.lock.yaml, such as pipes.lock.yaml: while that cannot be read, no pipe is created.',
} as const satisfies Statement
