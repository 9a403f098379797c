import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto'
import { stat } from 'node:fs/promises'
import {
  createSecureContext,
  getCACertificates,
  type SecureContext,
  type SecureContextOptions,
} from 'node:tls'
import { readTextFile } from './text-file.ts'

export interface TlsFiles {
  /** Certificate authorities to trust besides Node's and the system's. */
  readonly caFile: string | undefined
  readonly certFile: string | undefined
  readonly keyFile: string | undefined
}

export class TlsFileError extends Error {
  readonly file: keyof TlsFiles

  constructor(file: keyof TlsFiles, why: string) {
    super(why)
    this.name = 'TlsFileError'
    this.file = file
  }
}

export type TlsSource = ReturnType<typeof openTls>

export function openTls(files: TlsFiles) {
  const paths = [files.caFile, files.certFile, files.keyFile].filter((path) => path !== undefined)
  let known: { readonly stamp: string; readonly context: SecureContext } | undefined

  /**
   * If changed files are unusable, the last good ones stay in use.
   * @returns undefined if no file is set: Node's defaults apply
   * @throws {TlsFileError} if no good files were read before
   */
  async function current(): Promise<SecureContext | undefined> {
    if (paths.length === 0) return undefined
    const stamp = await stampOf(paths)
    if (known?.stamp === stamp) return known.context
    try {
      const context = await readTls(files)
      if (known?.stamp !== stamp) known = { stamp, context }
    } catch (error) {
      // Keeps the stamp of the last good files, so the next call reads the changed files again.
      if (known === undefined) throw error
    }
    return known.context
  }

  current().catch(() => undefined)
  return { current }
}

/** The result changes when a file changes. Follows links: Kubernetes updates a mounted Secret by replacing a link. */
async function stampOf(paths: readonly string[]): Promise<string> {
  const stats = paths.map((path) =>
    stat(path, { bigint: true }).then(
      ({ ino, size, mtimeNs }) => `${ino} ${size} ${mtimeNs}`,
      () => 'none',
    ),
  )
  return (await Promise.all(stats)).join('\n')
}

export async function readTls({ caFile, certFile, keyFile }: TlsFiles): Promise<SecureContext> {
  const authorities =
    caFile === undefined ? undefined : certificatesOf(await textOf('caFile', caFile), 'caFile')
  if (certFile === undefined || keyFile === undefined) return contextOf('caFile', believing(authorities))
  const cert = await textOf('certFile', certFile)
  const [own] = certificatesOf(cert, 'certFile')
  const text = await textOf('keyFile', keyFile)
  const key = keyOf(text)
  if (own !== undefined && !new X509Certificate(own).checkPrivateKey(key)) {
    throw new TlsFileError('keyFile', `it is not the key of the certificate in ${certFile}`)
  }
  return contextOf('certFile', { ...believing(authorities), cert, key: text })
}

function contextOf(file: keyof TlsFiles, options: SecureContextOptions): SecureContext {
  try {
    return createSecureContext(options)
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'no code'
    throw new TlsFileError(file, `TLS cannot use it (${code})`)
  }
}

/** @returns when the client certificate expired; undefined if valid or not set @throws {TlsFileError} */
export async function expiredAt({ certFile }: TlsFiles, now: number): Promise<Date | undefined> {
  if (certFile === undefined) return undefined
  const [own] = certificatesOf(await textOf('certFile', certFile), 'certFile')
  const end = own === undefined ? undefined : new X509Certificate(own).validToDate
  return end !== undefined && end.getTime() < now ? end : undefined
}

/** Includes Node's authorities, because the option `ca` replaces them. */
function believing(authorities: readonly string[] | undefined): { readonly ca?: string[] } {
  return authorities === undefined ? {} : { ca: [...getCACertificates('default'), ...authorities] }
}

async function textOf(file: keyof TlsFiles, path: string): Promise<string> {
  try {
    return await readTextFile(path)
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException // of the file system
    throw new TlsFileError(file, code === undefined ? message : `it cannot be read (${code})`)
  }
}

const CERTIFICATE = /-----BEGIN (?:TRUSTED )?CERTIFICATE-----[^-]+-----END (?:TRUSTED )?CERTIFICATE-----/g

function certificatesOf(text: string, file: keyof TlsFiles): readonly string[] {
  const certificates = text.match(CERTIFICATE) ?? []
  if (certificates.length === 0) throw new TlsFileError(file, 'it holds no certificate in PEM')
  for (const [index, certificate] of certificates.entries()) {
    try {
      // oxlint-disable-next-line no-new -- throws if it is damaged
      new X509Certificate(certificate)
    } catch {
      throw new TlsFileError(file, `certificate ${index + 1} of ${certificates.length} in it is damaged`)
    }
  }
  return certificates
}

/** Drops the error: its text can hold parts of the key. */
function keyOf(text: string): KeyObject {
  try {
    return createPrivateKey(text)
  } catch (error) {
    const isLocked = error instanceof Error && 'code' in error && error.code === 'ERR_MISSING_PASSPHRASE'
    const why = isLocked ? 'the key has a passphrase, and must have none' : 'it holds no private key in PEM'
    throw new TlsFileError('keyFile', why)
  }
}
