import { MORE_FILES } from '../lib/open-files.ts'
import { Secret } from '../lib/secret.ts'
import type { SecretReading } from '../contract/secrets.ts'

/** Reads one secret in one file; never throws. */
export type ReadSecret = (file: string) => Promise<SecretReading>

/** Where a target is reached, read anew for each message: mounted secrets are swapped. Never printed. */
export interface Address {
  readonly origin: Secret
  /** With the query. */
  readonly path: Secret
}

export type AddressReading =
  | { readonly found: true; readonly address: Address }
  | { readonly found: false; /** In words, without what the file holds. */ readonly why: string }

export async function readAddress(
  file: string,
  options: {
    readonly readSecret: ReadSecret
    /** Also plain http: to other machines. */
    readonly allowInsecureHttp: boolean
  },
): Promise<AddressReading> {
  const reading = await options.readSecret(file)
  if (!reading.found) return { found: false, why: unreadable(reading) }
  const url = URL.parse(reading.value.reveal().trim())
  if (url === null || (url.protocol !== 'https:' && url.protocol !== 'http:')) {
    return { found: false, why: `${file} does not hold an http or https URL` }
  }
  if (url.username !== '' || url.password !== '') {
    return { found: false, why: `the URL in ${file} carries a user or a password, which is not supported` }
  }
  if (url.protocol === 'http:' && !options.allowInsecureHttp && !isLoopback(url.hostname)) {
    const why = `the URL in ${file} is plain http:, for everybody on the way to read`
    return { found: false, why: `${why}; use https:, or allow it with --allow-insecure-http` }
  }
  const address = { origin: new Secret(url.origin), path: new Secret(`${url.pathname}${url.search}`) }
  return { found: true, address }
}

/** The key that a webhook is signed with. */
export async function readSigningKey(
  file: string,
  readSecret: ReadSecret,
): Promise<{ readonly found: true; readonly key: Secret } | { readonly found: false; readonly why: string }> {
  const reading = await readSecret(file)
  if (!reading.found) return { found: false, why: unreadable(reading) }
  const text = reading.value.reveal()
  if (text.startsWith('whsec_') && !/^whsec_[A-Za-z0-9+/]+={0,2}$/.test(text)) {
    return { found: false, why: `the key in ${file} begins with whsec_ and is not base64 after that` }
  }
  return { found: true, key: reading.value }
}

function unreadable({ file, why, misplaced }: SecretReading & { readonly found: false }): string {
  if (misplaced !== undefined) {
    const place = `there is no file ${file} that can be read, and there is ${misplaced} in --secrets-dir`
    return `${place}: what notifications use now belongs in --credentials-dir`
  }
  switch (why) {
    case 'no descriptor':
      return `the file ${file} could not be opened: too many open files. ${MORE_FILES}`
    case 'linked':
      return `the file ${file} is a link into --secrets-dir, where manifests could name it`
    case 'credential': // of a source only
    case 'absent':
      return `there is no file ${file}`
    case 'unreadable':
      return `the file ${file} cannot be read, or is too large`
    case 'empty':
      return `the file ${file} is empty`
  }
}

/** `URL` writes hosts in lower case, IPv4 in four parts, IPv6 in brackets. */
function isLoopback(host: string): boolean {
  return (
    host === 'localhost' || host.endsWith('.localhost') || host === '[::1]' || /^127(\.\d+){3}$/.test(host)
  )
}
