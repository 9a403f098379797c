import { readFile } from 'node:fs/promises'
import { isIP } from 'node:net'
import { homedir } from 'node:os'
import { delimiter, dirname, isAbsolute, join } from 'node:path'
import { parse } from 'yaml'
import { z } from 'zod'
import { LedgerError } from '../../contract/ledger.ts'
import { createExecCredential, Exec, runProgram } from './exec-credential.ts'

export interface ClusterAccess {
  /** Origin and path, without a trailing slash. */
  readonly server: string
  readonly namespace: string
  /** URL that can contain user and password. */
  readonly proxy?: string | undefined
  /** Reads tokens and certificates each time, because their files are renewed while the process runs. */
  current(now: number): Promise<Credentials>
  /** Call this after status 401. @returns whether a retry can get new credentials */
  renew?(): boolean
}

export interface Credentials {
  readonly token: string | undefined
  readonly tls: {
    readonly ca?: string | undefined
    readonly cert?: string | undefined
    readonly key?: string | undefined
    readonly servername?: string | undefined
    readonly rejectUnauthorized?: false | undefined
  }
}

export type Environment = Readonly<Record<string, string | undefined>>

const SERVICE_ACCOUNT = '/var/run/secrets/kubernetes.io/serviceaccount'

/** Uses `KUBECONFIG`, else the pod's own cluster, else `~/.kube/config`. */
export async function openClusterAccess(
  env: Environment,
  serviceAccount = SERVICE_ACCOUNT,
  run = runProgram,
): Promise<ClusterAccess> {
  const { KUBECONFIG: file, KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port } = env
  if (file?.includes(delimiter) === true)
    throw new LedgerError('io', `KUBECONFIG names several files (${file}). Name only one.`)
  if (file !== undefined && file !== '') return accessOfFile(file, env, run)
  if (host !== undefined && host !== '') return accessOfPod(host, port ?? '443', serviceAccount)
  return accessOfFile(join(homedir(), '.kube', 'config'), env, run)
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

const Named = z.array(z.looseObject({ name: z.string() }))

const Kubeconfig = z.looseObject({
  'current-context': z.string(),
  clusters: Named,
  users: Named,
  contexts: Named,
})

const Context = z.looseObject({
  cluster: z.string(),
  user: z.string(),
  namespace: z.string().default('default'),
})

const Text = z.string().optional()

/* Unsupported members of a kubeconfig are refused, because they can change the user or the route. */

const Cluster = z.strictObject({
  server: z.url(),
  'certificate-authority': Text,
  'certificate-authority-data': Text,
  'insecure-skip-tls-verify': z.boolean().optional(),
  'tls-server-name': Text.refine((name = '') => isIP(name) === 0, 'it is not the name of a host'),
  'proxy-url': z
    .url({ protocol: /^(?:https?|socks5)$/, error: 'it is no http:, https: or socks5: URL' })
    .optional(),
  'disable-compression': z.boolean().optional(),
  extensions: z.array(z.looseObject({ name: z.string() })).optional(),
})

const User = z.strictObject({
  token: Text,
  tokenFile: Text,
  'client-certificate': Text,
  'client-certificate-data': Text,
  'client-key': Text,
  'client-key-data': Text,
  exec: Exec.optional(),
  extensions: z.unknown().optional(),
})

/** Name of the item in a cluster's `extensions` that a credential plugin gets as `config`. */
const EXEC_EXTENSION = 'client.authentication.k8s.io/exec'

async function accessOfFile(file: string, env: Environment, run: typeof runProgram): Promise<ClusterAccess> {
  const wrong = (why: string) => new LedgerError('io', `${file}, which says how to reach Kubernetes, ${why}.`)
  const reading = Kubeconfig.safeParse(parsed(await textOf(file)))
  if (!reading.success) throw wrong(`is no kubeconfig: ${issueWords(reading.error)}`)
  const { 'current-context': current, clusters, users, contexts } = reading.data

  function chosen<T>(schema: z.ZodType<T>, kind: string, entries: z.infer<typeof Named>, name: string): T {
    const entry = entries.find((one) => one.name === name)
    const by = kind === 'context' ? 'current-context' : `the context "${current}"`
    if (entry === undefined) throw wrong(`has no ${kind} "${name}", which ${by} names`)
    const members = Object.entries(entry[kind] ?? {}).filter(([, value]) => value !== null && value !== '')
    const parts = schema.safeParse(Object.fromEntries(members))
    if (!parts.success)
      throw wrong(`has a ${kind} "${name}" that Pipewright cannot use: ${issueWords(parts.error)}`)
    return parts.data
  }

  const context = chosen(Context, 'context', contexts, current)
  const cluster = chosen(Cluster, 'cluster', clusters, context.cluster)
  const user = chosen(User, 'user', users, context.user)
  if (user.exec !== undefined && (user.token ?? user.tokenFile) !== undefined)
    throw wrong(`has a user "${context.user}" with both exec and a token. Remove one`)
  const skipsChecks = cluster['insecure-skip-tls-verify'] === true
  const readCa = () => oneOf(file, cluster, 'certificate-authority')
  if (skipsChecks && (await readCa()) !== undefined)
    throw wrong(
      `has a cluster "${context.cluster}" with both insecure-skip-tls-verify and certificate-authority. Remove one`,
    )
  const plugin = user.exec && createExecCredential(besideFile(user.exec, file), { env, cluster: shown, run })

  async function shown(): Promise<object> {
    const { extensions, 'certificate-authority': _, ...others } = cluster
    const ca = await readCa()
    return {
      ...others,
      ...(ca !== undefined && { 'certificate-authority-data': Buffer.from(ca).toString('base64') }),
      config: extensions?.find(({ name }) => name === EXEC_EXTENSION)?.['extension'],
    }
  }

  return {
    server: cluster.server.replace(/\/+$/, ''),
    namespace: context.namespace,
    proxy: cluster['proxy-url'],
    async current(now) {
      const [token, ca, cert, key, login] = await Promise.all([
        user.tokenFile === undefined ? user.token : textOf(below(file, user.tokenFile)),
        readCa(),
        oneOf(file, user, 'client-certificate'),
        oneOf(file, user, 'client-key'),
        plugin?.current(now),
      ])
      const tls = {
        ca,
        cert: login?.clientCertificateData ?? cert,
        key: login?.clientKeyData ?? key,
        servername: cluster['tls-server-name'],
        rejectUnauthorized: skipsChecks ? (false as const) : undefined,
      }
      return { token: login?.token ?? token?.trim(), tls }
    },
    renew() {
      plugin?.forget()
      return plugin !== undefined
    },
  }
}

/** A command with a slash is a path relative to the kubeconfig's folder. */
function besideFile(exec: z.infer<typeof Exec>, file: string): z.infer<typeof Exec> {
  return exec.command.includes('/') ? { ...exec, command: below(file, exec.command) } : exec
}

function issueWords({ issues: [issue] }: z.ZodError): string {
  if (issue?.code === 'unrecognized_keys')
    return `${issue.keys.join(', ')}: it is not supported. Use a token, a client certificate or exec`
  return `${issue?.path.join('.') || 'the whole'}: ${issue?.message ?? ''}`
}

function parsed(text: string): unknown {
  try {
    return parse(text)
  } catch {
    return undefined // the schema reports that it is no mapping
  }
}

/** Decodes the member `…-data`, or reads the file that `member` names. */
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
      `Kubernetes cannot be reached: ${file} ${why}. In a pod, mount its service account ` +
        '(automountServiceAccountToken). Elsewhere, name a kubeconfig with KUBECONFIG.',
      { cause: error },
    )
  }
}
