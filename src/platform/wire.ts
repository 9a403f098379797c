import type { Operation } from '../kinds/definition.ts'
import { notSent } from '../contract/remote-error.ts'

/**
 * What all requests of the interface have in common, in one value: services that offer it under other names get another value
 * (design §14). Paths stand with the kinds (`src/kinds`); each `{name}` in one is one encoded segment.
 */
export interface Wire {
  /** Fields of the envelope (1). */
  readonly statusField: string
  readonly requestIdField: string
  /** The field of a reply that holds the resource: of the envelope (1), and of the alert reply (4.4). */
  readonly valueField: Readonly<Record<Operation['api'], string>>
  /** Carries the intent id of a create; the interface neither asks for it nor forbids it. */
  readonly idempotencyHeader: string
  /** Keys of the mounted secret that hold the API key (5). */
  readonly keyIdKey: string
  readonly keySecretKey: string
}

/** The names of `spec/api.md`. */
export const DEFAULT_WIRE: Wire = {
  statusField: 'status',
  requestIdField: 'requestId',
  valueField: { services: 'result', alerts: 'data' },
  idempotencyHeader: 'Idempotency-Key',
  keyIdKey: 'keyId',
  keySecretKey: 'keySecret',
}

/**
 * The path of a template; an id can neither add a segment nor step out of one.
 * @throws {RemoteError} `Rejected`, effect none, for an id that no path can carry
 */
export function pathOf(template: string, ids: Readonly<Record<string, string>>): string {
  return template.replace(/\{(\w+)\}/g, (_whole, name: string) => segment(name, ids[name] ?? ''))
}

function segment(name: string, id: string): string {
  // Dots alone are a step in the path, also when they are encoded; nothing at all is another path.
  if (/^\.{0,2}$/.test(id)) {
    throw notSent('Rejected', `"${id}" is no ${name} that a path could carry; correct it in the manifest`)
  }
  return encodeURIComponent(id.toWellFormed())
}

/** Where requests go: the origin, and the path that stands before every path of the interface. */
export interface Base {
  readonly origin: string
  /** Without a slash at its end. */
  readonly path: string
}

/** @throws {TypeError} when `url` is not a URL */
export function baseOf(url: string): Base {
  const { origin, pathname } = new URL(url)
  return { origin, path: pathname.replace(/\/+$/, '') }
}
