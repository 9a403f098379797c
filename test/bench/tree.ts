import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { alertText, endpointText, pipeText, SECRET, serviceText } from './manifest-texts.ts'

/** A directory of manifests of mixed kinds, as many as were asked for. */
export interface Tree {
  readonly dir: string
  /** With the folders of credentials and of secrets. */
  readonly mounted: string
  /** Manifests in it. */
  readonly manifests: number
  readonly pipes: number
  readonly alerts: number
  readonly endpoints: number
  readonly services: number
  readonly files: number
  readonly bytes: number
  /** A file with one pipe and nothing else, by the number of the pipe. */
  readonly single: readonly { readonly pipe: number; readonly path: string }[]
}

const FOLDERS = 200
/** Every so many pipes, five stand in one file. */
const GROUP = 5
const GROUPED = 20

const ALERTS_TOKEN = 'bench-alerts-token'

/** How many of each kind there are among `manifests`. */
export function countsOf(manifests: number) {
  const services = Math.max(2, Math.min(50, Math.floor(manifests / 50)))
  const endpoints = services
  const alerts = Math.floor(manifests / 12)
  return { services, endpoints, alerts, pipes: manifests - services - endpoints - alerts }
}

/**
 * Writes the directory: services in one file, an endpoint each, alerts, and pipes of all four sources; a fifth of the
 * pipes stand five in a file, all others alone, in folders of some fifty files.
 */
export function writeTree(dir: string, mounted: string, manifests: number): Tree {
  const counts = countsOf(manifests)
  const written = { files: 0, bytes: 0 }
  const single: { pipe: number; path: string }[] = []

  function write(name: string, text: string): string {
    const path = join(dir, name)
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, text)
    written.files += 1
    written.bytes += Buffer.byteLength(text)
    return path
  }

  write('platform/services.yaml', texts(counts.services, serviceText).join('---\n'))
  for (let n = 0; n < counts.endpoints; n += 1) write(`platform/endpoints/e${n}.yaml`, endpointText(n))
  for (let n = 0; n < counts.alerts; n += 1)
    write(`alerts/${folder(n)}/a${n}.yaml`, alertText(n, counts.services))
  for (let n = 0; n < counts.pipes; n += 1) {
    if (n % (GROUP * GROUPED) < GROUPED && n + GROUP <= counts.pipes && n % GROUP === 0) {
      const group = texts(GROUP, (at) => pipeText(n + at, counts.services))
      write(`pipes/${folder(n)}/group${n}.yaml`, group.join('---\n'))
      n += GROUP - 1
    } else {
      const path = write(`pipes/${folder(n)}/p${n}.yaml`, pipeText(n, counts.services))
      single.push({ pipe: n, path })
    }
  }
  writeSecrets(mounted)
  return { dir, mounted, manifests, ...counts, ...written, single }
}

function folder(n: number): string {
  return `team${Math.floor(n / 50) % FOLDERS}`
}

function writeSecrets(dir: string): void {
  const files = {
    [`credentials/${SECRET}/keyId`]: 'bench-key',
    [`credentials/${SECRET}/keySecret`]: 'bench-secret',
    'secrets/source/username': 'reader',
    'secrets/source/password': 'bench-password',
    'secrets/source/accessKeyId': 'bench-access',
    'secrets/source/secretKey': 'bench-secret-key',
    'credentials/alerts/token': ALERTS_TOKEN,
  }
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(dir, name)), { recursive: true })
    writeFileSync(join(dir, name), text)
  }
}

export function texts(count: number, text: (n: number) => string): readonly string[] {
  return Array.from({ length: count }, (_, n) => text(n))
}
