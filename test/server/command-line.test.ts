import { describe, expect, test } from 'vitest'
import { AS_SAID, commandLine, commandsTyped, type CommandContext } from '../../src/server/command-line.ts'
import { condition, fakeParts, overview, resource } from './fake-parts.ts'
import { running } from './running.ts'

const OTHER = 'sqlite:/var/lib/pipe wright/ledger.db'

/** Where a command that was pasted elsewhere would find something else by itself. */
const AT_HOME: CommandContext = {
  sandbox: false,
  ledger: 'sqlite:/l.db',
  manifests: '/srv/my manifests',
  baseUrl: 'https://api.example',
}

describe('a command', () => {
  test.each<{
    readonly why: string
    readonly context: CommandContext
    readonly args: string
    readonly is: string
  }>([
    {
      why: 'as it is, where nothing has to be named',
      context: AS_SAID,
      args: 'resolve Pipe/a --retry',
      is: 'pipewright resolve Pipe/a --retry',
    },
    {
      why: 'in the sandbox, which has no command of its own',
      context: { sandbox: true, ledger: undefined },
      args: 'forget Pipe/a',
      is: 'npx pipewright forget Pipe/a --sandbox',
    },
    {
      why: 'with a ledger of another name, as one word',
      context: { sandbox: false, ledger: OTHER },
      args: 'status Pipe/a',
      is: `pipewright status Pipe/a --ledger '${OTHER}'`,
    },
    {
      why: 'without the ledger where none is read',
      context: { sandbox: true, ledger: OTHER },
      args: 'validate manifests',
      is: 'npx pipewright validate manifests --sandbox',
    },
    {
      why: 'with the manifests and the platform, where the command needs both',
      context: AT_HOME,
      args: 'resolve Pipe/a --adopt <its id>',
      is: `pipewright resolve Pipe/a --adopt <its id> --ledger sqlite:/l.db --manifests '/srv/my manifests' --base-url https://api.example`,
    },
    {
      why: 'with the manifests, where only those are read',
      context: AT_HOME,
      args: 'allow',
      is: `pipewright allow --ledger sqlite:/l.db --manifests '/srv/my manifests'`,
    },
    {
      why: 'with the manifests, where there is no ledger',
      context: AT_HOME,
      args: 'validate',
      is: `pipewright validate --manifests '/srv/my manifests'`,
    },
    {
      why: 'without either, where neither is needed',
      context: AT_HOME,
      args: 'history --since 1h',
      is: 'pipewright history --since 1h --ledger sqlite:/l.db',
    },
    {
      why: 'without the platform, which is not asked whether a create made nothing',
      context: { ...AT_HOME, manifests: undefined },
      args: 'resolve Pipe/a --retry',
      is: 'pipewright resolve Pipe/a --retry --ledger sqlite:/l.db',
    },
    {
      why: 'once, where it names it already',
      context: AT_HOME,
      args: 'adopt Pipe/a ID --ledger sqlite:/l.db --manifests /srv --base-url https://other.example',
      is: 'pipewright adopt Pipe/a ID --ledger sqlite:/l.db --manifests /srv --base-url https://other.example',
    },
    {
      why: 'to the daemon that was asked',
      context: { sandbox: false, ledger: undefined, server: 'http://127.0.0.1:8080' },
      args: 'allow --dry-run',
      is: 'pipewright allow --dry-run --server http://127.0.0.1:8080 --admin-token-file FILE',
    },
    {
      why: 'at a server, which carries out the commands of people',
      context: { sandbox: false, ledger: undefined, server: 'http://127.0.0.1:8080' },
      args: 'resume Pipe/a',
      is: 'pipewright resume Pipe/a --server http://127.0.0.1:8080 --admin-token-file FILE',
    },
    {
      why: 'that asks no daemon, as it is',
      context: { sandbox: false, ledger: undefined, server: 'http://127.0.0.1:8080' },
      args: 'lock',
      is: 'pipewright lock',
    },
  ])('is typed $why', ({ context, args, is }) => {
    expect(commandLine(args, context)).toBe(is)
    expect(commandsTyped(`Do "pipewright ${args}", or "--other".`, context)).toBe(`Do "${is}", or "--other".`)
  })
})

test('all that a daemon in the sandbox says of a resource has commands that work there', async () => {
  const message = 'If it is lost, run "pipewright resolve Pipe/orders --retry".'
  const lost = resource('Pipe/orders', {
    status: 'OutcomeUnknown',
    reason: 'OutcomeUnknown',
    message,
    conditions: {
      Valid: condition('True'),
      Synced: condition('Unknown', { reason: 'OutcomeUnknown', facts: undefined }),
      Ready: condition('Unknown', { reason: 'OutcomeUnknown' }),
    },
  })
  const said = { type: 'action', action: 'create', reason: 'New', result: 'unknown', message } as const
  const entry = { ...said, key: lost.key, at: 0, revision: '', requestId: undefined }
  const sourceProblem = 'To accept it, run "pipewright reconcile --accept".'
  const inSandbox = { overview: () => overview({ sandbox: true, sourceProblem }) }
  const server = await running(fakeParts(inSandbox, [lost], [entry]))
  for (const path of ['resources', 'resources/Pipe/orders', 'timeline', 'attention', 'overview']) {
    const text = await (await fetch(`${server.url}/api/v1/${path}`)).text()
    expect(text, path).toMatch(/npx pipewright (resolve|reconcile) .*--sandbox/)
    expect(text, path).not.toContain('"pipewright ')
    expect(text, path).not.toContain('\\"pipewright ')
  }
})
