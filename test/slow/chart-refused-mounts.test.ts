import { describe } from 'vitest'
import { type BadValues, testRefusals } from './support/chart-refusals.ts'

/* What the pod reads and mounts: refused where a secret would be seen, or where two would be one. */

const BAD: readonly BadValues[] = [
  {
    why: "the platform's Secrets among those that manifests can name",
    values: {
      platform: { alertsToken: { secretName: 'alerts-token' } },
      adminToken: { secretName: 'admin' },
      credentials: [{ name: 'analytics-api' }, { name: 'other', secretName: 'key' }],
      secrets: [
        { name: 'analytics-api' },
        { name: 'kafka', secretName: 'key' },
        { name: 'a', secretName: 'alerts-token' },
        { name: 'b', secretName: 'admin' },
      ],
    },
    says: [
      'secrets mounts the Secret "analytics-api", which credentials mounts as well',
      'secrets mounts the Secret "key", which credentials mounts as well',
      'secrets mounts the Secret "alerts-token", which platform.alertsToken mounts as well',
      'secrets mounts the Secret "admin", which adminToken mounts as well',
    ],
  },
  {
    why: 'a credential in the place of the token for alerts',
    values: { platform: { alertsToken: { secretName: 'token' } }, credentials: [{ name: 'alerts' }] },
    says: ['credentials names "alerts", where platform.alertsToken is mounted'],
  },
  {
    why: 'credentials that were left among the secrets',
    values: { credentials: [], secrets: [{ name: 'analytics-api' }, { name: 'kafka' }] },
    says: ['credentials is empty, and secrets is not (analytics-api, kafka)'],
  },
  {
    why: 'a password in the address of the repository',
    values: { source: { configMap: '', git: { repository: 'https://me:secret@git.example/p.git' } } },
    says: ['carries a password', 'source.git.token.secretName'],
  },
  {
    why: 'a token in the address of the repository',
    values: { source: { configMap: '', git: { repository: 'HTTPS://ghp_secret@git.example/p.git' } } },
    says: ['carries a password or a token', 'source.git.token.secretName'],
  },
  {
    why: 'a repository of a scheme that is none',
    values: { source: { configMap: '', git: { repository: 'htps://git.example/p.git' } } },
    says: ["at '/source/git/repository'"],
  },
  {
    why: 'flags of git-sync that the chart sets',
    values: {
      source: {
        configMap: '',
        git: {
          repository: 'https://git.example/p.git',
          extraArgs: ['--period=5s', '--root', '/elsewhere', '--stale-worktree-timeout=1m'],
        },
      },
    },
    says: [
      'source.git.extraArgs sets --period, which the chart sets as well: use source.git.period',
      'source.git.extraArgs sets --root',
    ],
  },
  {
    why: 'git-sync without a version',
    values: {
      source: { configMap: '', git: { repository: 'https://git.example/p.git', image: { tag: '' } } },
    },
    says: ['source.git.image has neither a tag nor a digest'],
  },
  {
    why: 'what would be in the pod twice',
    values: {
      source: {
        configMap: '',
        git: {
          repository: 'https://git.example/p.git',
          extraEnv: [{ name: 'HOME', value: '/root' }],
          extraVolumeMounts: [{ name: 'own', mountPath: '/tmp' }],
        },
      },
      proxy: { httpsProxy: 'http://proxy.example:3128' },
      extraEnv: [{ name: 'HTTPS_PROXY', value: 'http://other.example' }],
      secrets: [{ name: 'team.kafka' }, { name: 'team-kafka' }],
      extraVolumes: [{ name: 'ledger', emptyDir: {} }],
      ledger: { existingClaim: 'mine' },
      extraVolumeMounts: [{ name: 'own', mountPath: '/var/lib/pipewright' }],
      extraContainers: [{ name: 'git-sync', image: 'x' }],
      initContainers: [{ name: 'pipewright', image: 'x' }],
    },
    says: [
      'extraEnv: the variable HTTPS_PROXY would be in the pod twice',
      'the volume secret-team-kafka',
      'the volume ledger',
      'extraVolumeMounts: the mount at /var/lib/pipewright',
      'source.git.extraEnv: the variable HOME',
      'source.git.extraVolumeMounts: the mount at /tmp',
      'the container git-sync',
      'the container pipewright',
    ],
  },
  {
    why: 'SSH without a key',
    values: { source: { configMap: '', git: { repository: 'git@git.example:p.git' } } },
    says: ['is read over SSH, and there is no key', 'source.git.ssh.secretName'],
  },
  {
    why: 'a key for HTTPS',
    values: {
      source: { configMap: '', git: { repository: 'https://git.example/p.git', ssh: { secretName: 'k' } } },
    },
    says: ['is not an SSH address'],
  },
  {
    why: 'two ways to log in',
    values: {
      source: {
        configMap: '',
        git: { repository: 'git@git.example:p.git', ssh: { secretName: 'k' }, token: { secretName: 't' } },
      },
    },
    says: ['are both set: use one'],
  },
  {
    why: 'one secret twice',
    values: { secrets: [{ name: 'kafka' }, { name: 'kafka', secretName: 'other' }] },
    says: ['secrets names "kafka" twice'],
  },
  {
    why: 'a secret that no folder can be called after',
    values: { secrets: [{ name: '../etc' }] },
    says: ["at '/secrets/0/name'"],
  },
  { why: 'a secret without a name', values: { secrets: [{}] }, says: ["missing property 'name'"] },
  {
    why: 'a certificate authority of two places',
    values: { source: { git: { ca: { secretName: 'ca', configMap: 'ca' } } } },
    says: ['source.git.ca.secretName and source.git.ca.configMap are both set'],
  },
]

describe('what would show a secret or be there twice is refused', () => {
  testRefusals(BAD)
})
