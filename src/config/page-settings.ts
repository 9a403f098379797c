import {
  parseBaseUrl,
  parseHosts,
  parseListen,
  parsePath,
  parseTemplate,
  wholeNumber,
  type SettingDefinition,
} from './parsers.ts'

export const PAGE_SETTINGS = {
  listen: {
    group: 'Page and HTTP',
    flag: 'listen',
    placeholder: 'HOST:PORT',
    default: '127.0.0.1:8080',
    describe: 'address of the page, the metrics and the health checks. Port 0: any free port',
    parse: parseListen,
  },
  metricsListen: {
    group: 'Page and HTTP',
    flag: 'metrics-listen',
    placeholder: 'HOST:PORT',
    defaultNote: 'none: they share the address of the page',
    describe:
      'separate address of the metrics and the health checks. The address of the page then has no metrics',
    parse: parseListen,
  },
  allowedHosts: {
    group: 'Page and HTTP',
    flag: 'allowed-hosts',
    placeholder: 'LIST',
    defaultNote: 'none: IP addresses, `localhost`, and the host of `--public-url`',
    describe:
      'additional host names of the page and the API, such as pipewright.example.com,.svc.cluster.local. With *, every web site that a user opens can read the page by DNS rebinding',
    parse: parseHosts,
  },
  adminTokenFile: {
    group: 'General',
    flag: 'admin-token-file',
    placeholder: 'FILE',
    sandboxDefault: '.pipewright/admin-token',
    defaultNote: 'none: only commands on the same host can send them',
    describe:
      'file with the token for POST /-/reconcile, POST /-/allow, POST /-/operate and POST /api/v1/plan, outside --secrets-dir. Commands send this token',
    parse: parsePath,
  },
  server: {
    group: 'General',
    flag: 'server',
    placeholder: 'URL',
    describe:
      'address of a running daemon. Commands that can ask the daemon do so, instead of reading a ledger',
    parse: parseBaseUrl,
  },
  publicUrl: {
    group: 'Page and HTTP',
    flag: 'public-url',
    placeholder: 'URL',
    describe: 'address at which users open the page, for links in webhook messages',
    parse: parseBaseUrl,
  },
  repositoryUrl: {
    group: 'Page and HTTP',
    flag: 'repository-url',
    placeholder: 'TEMPLATE',
    defaultNote: 'none: files and commits are not links',
    describe:
      'address of a manifest in a browser, for links on the page, such as https://git.example/blob/{revision}/{file}',
    parse: parseTemplate,
  },
  namedResources: {
    group: 'Page and HTTP',
    flag: 'named-resources',
    placeholder: 'N',
    default: '1000',
    describe:
      'maximum number of resources whose name is a label in metrics. The others share the name "_other"',
    parse: wholeNumber(0, 100_000),
  },
} as const satisfies Readonly<Record<string, Omit<SettingDefinition, 'env'>>>
