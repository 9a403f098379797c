import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { runCommand, type Timed } from '../child.ts'
import { type Rig, UNLIMITED } from '../rig.ts'
import { inTurns, type Measured, type Row } from '../row.ts'

/** As many as one state of Terraform rarely has, for it is slow with them. */
const SIZE = 1_000

/* Terraform with as many resources, which call no API. `time_static` is of a provider with its own process. */

const PROVIDER = 'terraform-provider-time'

const COMMON = {
  unit: 'ms',
  needs: ['terraform', PROVIDER],
  onlyNamed: true,
  onlyAt: (size) => size === SIZE,
} as const satisfies Partial<Row>

export const terraformApply: Row = {
  ...COMMON,
  name: 'tf-apply',
  what: 'apply, from nothing to all pipes created',
  floor: 'terraform apply of as many resources that call nothing',
  rule: { how: 'times', target: 0.33 },
  async measure(rig, run) {
    await rig.platform.reset()
    const folder = join(rig.work, `terraform-${run}`)
    await writeProject(rig, folder)
    const [floor, subject] = await inTurns(
      run,
      () => terraform(folder, 'apply', '-auto-approve'),
      () => pipewright(rig, ['apply', '--yes', ...rig.settings({ ledger: 'none' })]),
    )
    const { posts } = await rig.platform.saw()
    // A query endpoint is written with a POST as well.
    const wanted = rig.tree.pipes + rig.tree.endpoints
    const faults = posts === wanted ? [] : [`${posts} writes instead of ${wanted}`]
    return { floor: floor.wallMs, subject: subject.wallMs, notes: cpuOf(floor, subject), faults }
  },
}

export const terraformPlan: Row = {
  ...COMMON,
  name: 'tf-plan',
  what: 'plan, when all is in sync',
  floor: 'terraform plan of as many resources that call nothing, all applied',
  rule: { how: 'times', target: 0.33 },
  async measure(rig, run) {
    await rig.platform.reset()
    const folder = await applied(rig)
    const [floor, subject] = await inTurns(
      run,
      () => terraform(folder, 'plan'),
      () => pipewright(rig, ['plan', ...rig.settings()]),
    )
    return { floor: floor.wallMs, subject: subject.wallMs, notes: cpuOf(floor, subject), faults: [] }
  },
}

function cpuOf(floor: Timed, subject: Timed): Measured['notes'] {
  return { 'CPU, ms': subject.cpuMs, 'CPU, times': subject.cpuMs / floor.cpuMs }
}

/** Made by the first run; to apply it takes a minute. */
async function applied(rig: Rig): Promise<string> {
  const folder = join(rig.work, 'terraform-applied')
  if (existsSync(folder)) return folder
  await writeProject(rig, folder)
  await terraform(folder, 'apply', '-auto-approve')
  return folder
}

async function writeProject({ size }: Rig, folder: string): Promise<void> {
  mkdirSync(folder)
  const resources = Array.from(
    { length: size },
    (_, n) => `resource "time_static" "r${n}" {\n  triggers = { v = "${n}" }\n}`,
  )
  writeFileSync(join(folder, 'main.tf'), [REQUIRED, ...resources].join('\n'))
  const { stdout } = await runWell('sh', ['-c', `command -v ${PROVIDER}`], folder)
  writeFileSync(join(folder, CLI_CONFIG), cliConfig(dirname(stdout.trim())))
}

const REQUIRED = `terraform {
  required_providers {
    time = {
      source = "hashicorp/time"
    }
  }
}`

const CLI_CONFIG = 'terraform.rc'

/** Takes the provider as it is installed, and asks no registry. */
function cliConfig(folderOfProvider: string): string {
  return `provider_installation {
  dev_overrides {
    "hashicorp/time" = "${folderOfProvider}"
  }
  direct {}
}
`
}

const terraform = (folder: string, ...args: readonly string[]) =>
  runWell(
    'env',
    [`TF_CLI_CONFIG_FILE=${join(folder, CLI_CONFIG)}`, 'terraform', ...args, '-no-color', '-input=false'],
    folder,
  )

const pipewright = ({ command, work }: Rig, args: readonly string[]) =>
  runWell(process.execPath, [command, ...args, '--api-budget', UNLIMITED], work)

async function runWell(command: string, args: readonly string[], cwd: string) {
  const ran = await runCommand(command, args, cwd)
  if (ran.code !== 0)
    throw new Error(`${command} ${args[0]} ended with ${ran.code}: ${ran.stdout}${ran.stderr}`)
  return ran
}
