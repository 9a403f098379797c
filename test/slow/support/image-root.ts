import { cpSync, existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from '../../support/process.ts'
import { until } from '../../support/until.ts'
import { makeBase } from './image-base.ts'
import { createBuildah, type Buildah, type ImageConfig } from './image-buildah.ts'

export const IMAGE = 'pipewright'

/** What the build is told, as a release tells it. */
export const BUILD_ARGS = { REVISION: 'abc123', SOURCE: 'https://git.example/pipewright' }

const MINUTES = 60_000

export interface BuiltImage {
  readonly buildah: Buildah
  /** Digests of its layers, the base's first. */
  readonly layers: readonly string[]
}

/** The image laid out, for one file of tests alone. */
export interface ImageRoot {
  readonly root: string
  readonly config: ImageConfig
}

/** The image, which is built once in a run: by the file that asks first, while the others wait. */
export async function builtImage(): Promise<BuiltImage> {
  const folder = join(sharedFolder(), 'image')
  const [context, result] = [join(folder, 'context'), join(folder, 'result.json')]
  const buildah = createBuildah(join(folder, 'store'), context)
  if (isFirst(folder)) {
    const outcome = await build(buildah, folder, context).catch((error: unknown) => ({
      failed: String(error),
    }))
    writeFileSync(`${result}.part`, JSON.stringify(outcome))
    renameSync(`${result}.part`, result)
  }
  await until('the image', () => existsSync(result), 10 * MINUTES)
  const outcome = JSON.parse(readFileSync(result, 'utf8')) as Outcome // as it was written above
  if ('failed' in outcome) throw new Error(`the image could not be built: ${outcome.failed}`)
  return { buildah, layers: outcome.layers }
}

export async function layOutImage(): Promise<ImageRoot> {
  const { buildah } = await builtImage()
  return { root: await buildah.layOut(IMAGE), config: await buildah.config(IMAGE) }
}

type Outcome = { readonly layers: readonly string[] } | { readonly failed: string }

async function build(buildah: Buildah, folder: string, context: string): Promise<Outcome> {
  copyCheckout(context)
  await makeBase(buildah, folder)
  return { layers: await buildah.build(IMAGE, BUILD_ARGS) }
}

/** The folder of this run: see bundled.ts. */
function sharedFolder(): string {
  const folder = process.env['TEST_SHARED']
  if (folder === undefined) throw new Error('TEST_SHARED names no folder: this is for slow tests')
  return folder
}

function isFirst(folder: string): boolean {
  try {
    mkdirSync(folder)
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw error
  }
}

/** A checkout that nobody edits meanwhile, with what must not get into an image. */
function copyCheckout(context: string): void {
  const needed =
    'Dockerfile .dockerignore package.json package-lock.json .npmrc LICENSE build.ts bin src manifests'
  for (const name of needed.split(' ')) cpSync(join(ROOT, name), join(context, name), { recursive: true })
  mkdirSync(join(context, '.pipewright'))
  writeFileSync(join(context, '.pipewright', 'ledger.db'), 'not for others')
}
