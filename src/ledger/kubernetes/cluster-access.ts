import { readFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { delimiter, dirname, isAbsolute, join } from 'node:path'
import { parse } from 'yaml'
import { z } from 'zod'
import { LedgerError } from '../../contract/ledger.ts'

/** Where the Kubernetes API is, and with what it is asked. */
export interface ClusterAccess {
  /** Origin, and a path where there is one; without a slash at its end. */
  readonly server: string
  /** The namespace that is meant where none is named. */
  readonly namespace: string
  /** As the files are now: a token is renewed while the process runs. @throws {LedgerError} */
  current(): Promise<Credentials>
}

export interface Credentials {
  readonly token: string | undefined
  readonly tls: TlsOptions
}

/** As `node:tls` takes them. */
export interface TlsOptions {
  readonly ca?: string
  readonly cert?: string
  readonly key?: string
  readonly servername?: string
  readonly rejectUnauthorized?: false
}

/** What of the environment of a process is looked at. */
export type Environment = Readonly<Record<string, string | undefined>>

/** Where Kubernetes mounts what a pod asks the API with. */
const SERVICE_ACCOUNT = '/var/run/secrets/kubernetes.io/serviceaccount'

/**
 * The API of `KUBECONFIG`; or that of the cluster that the pod runs in; or that of `~/.kube/config`.
 * @param serviceAccount where the service account is mounted
 * @throws {LedgerError}
 */
export async function openClusterAccess(
  env: Environment,
  serviceAccount = SERVICE_ACCOUNT,
): Promise<ClusterAccess> {
  const { KUBECONFIG: file, KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port } = env
  if (file?.includes(delimiter) === true)
    throw new LedgerError('io', `KUBECONFIG names several files (${file}): give one.`)
  if (file !== undefined && file !== '') return accessOfFile(file)
  if (host !== undefined && host !== '') return accessOfPod(host, port ?? '443', serviceAccount)
  return accessOfFile(join(homedir(), '.kube', 'config'))
}

async function accessOfPod(host: string, port: string, folder: string): Promise<ClusterAccess> {
  const server = `https://${host.includes(':') ? `[${host}]` : host}:${port}`
  const namespace = await readFile(join(folder, 'namespace'), 'utf8').catch(() => 'default')
  return {
    server,
    namespace: namespace.trim(),
    async current() {
      const [token, ca] = await Promise.all([textOf(join(folder, 'token')), textOf(join(folder, 'ca.crt'))])
      return { token: token.trim(), tls: { ca } }
    },
  }
}

const Named = <T extends z.ZodType>(member: string, value: T) =>
  z.array(z.looseObject({ name: z.string(), [member]: value }))

const Cluster = z.looseObject({
  server: z.url(),
  'certificate-authority': z.string().optional(),
  'certificate-authority-data': z.string().optional(),
  'insecure-skip-tls-verify': z.boolean().optional(),
  'tls-server-name': z.string().optional(),
})

const User = z.looseObject({
  token: z.string().optional(),
  tokenFile: z.string().optional(),
  'client-certificate': z.string().optional(),
  'client-certificate-data': z.string().optional(),
  'client-key': z.string().optional(),
  'client-key-data': z.string().optional(),
})

const Context = z.looseObject({
  cluster: z.string(),
  user: z.string(),
  namespace: z.string().optional(),
})

const Kubeconfig = z.looseObject({
  'current-context': z.string(),
  clusters: Named('cluster', Cluster),
  users: Named('user', User),
  contexts: Named('context', Context),
})

async function accessOfFile(file: string): Promise<ClusterAccess> {
  const text = await textOf(file)
  const wrong = (why: string) => new LedgerError('io', `${file}, which says how to reach Kubernetes, ${why}.`)
  const reading = Kubeconfig.safeParse(parsed(text))
  if (!reading.success) {
    const [issue] = reading.error.issues
    throw wrong(`is no kubeconfig: ${issue?.path.join('.') || 'all of it'}: ${issue?.message ?? ''}`)
  }
  const { 'current-context': current, clusters, users, contexts } = reading.data
  const context = Context.safeParse(contexts.find(({ name }) => name === current)?.['context']).data
  if (context === undefined) throw wrong(`has no context "${current}", which it names as the current one`)
  const cluster = Cluster.safeParse(clusters.find(({ name }) => name === context.cluster)?.['cluster']).data
  if (cluster === undefined)
    throw wrong(`has no cluster "${context.cluster}", which the context "${current}" names`)
  const user = User.safeParse(users.find(({ name }) => name === context.user)?.['user']).data
  if (user === undefined) throw wrong(`has no user "${context.user}", which the context "${current}" names`)
  for (const other of ['exec', 'auth-provider', 'username'])
    if (other in user)
      throw wrong(
        `has a user that logs in by "${other}", which Pipewright does not. Give one with a token or a client certificate`,
      )
  return {
    server: cluster.server.replace(/\/+$/, ''),
    namespace: context.namespace ?? 'default',
    async current() {
      const [token, ca, cert, key] = await Promise.all([
        user.tokenFile === undefined ? user.token : textOf(below(file, user.tokenFile)),
        oneOf(file, cluster, 'certificate-authority'),
        oneOf(file, user, 'client-certificate'),
        oneOf(file, user, 'client-key'),
      ])
      return {
        token: token?.trim(),
        tls: {
          ...(ca !== undefined && { ca }),
          ...(cert !== undefined && { cert }),
          ...(key !== undefined && { key }),
          ...(cluster['tls-server-name'] !== undefined && { servername: cluster['tls-server-name'] }),
          ...(cluster['insecure-skip-tls-verify'] === true && { rejectUnauthorized: false as const }),
        },
      }
    },
  }
}

function parsed(text: string): unknown {
  try {
    return parse(text)
  } catch {
    return undefined // the schema then says that it is no mapping
  }
}

/** A member that is there as base64 (`…-data`), or in a file. */
async function oneOf(
  file: string,
  from: Readonly<Record<string, unknown>>,
  member: string,
): Promise<string | undefined> {
  const data = from[`${member}-data`]
  if (typeof data === 'string') return Buffer.from(data, 'base64').toString('utf8')
  const path = from[member]
  return typeof path === 'string' ? textOf(below(file, path)) : undefined
}

function below(file: string, path: string): string {
  return isAbsolute(path) ? path : join(dirname(file), path)
}

async function textOf(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8')
  } catch (error) {
    const why =
      error instanceof Error && 'code' in error && error.code === 'ENOENT' ? 'is not there' : 'cannot be read'
    throw new LedgerError(
      'io',
      `${file}, which is needed to reach Kubernetes, ${why}. In a pod, see that its service account is mounted ` +
        '(automountServiceAccountToken); elsewhere, name a kubeconfig with KUBECONFIG.',
      { cause: error },
    )
  }
}
