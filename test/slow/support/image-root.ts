import { cpSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from '../../support/process.ts'
import { makeBase } from './image-base.ts'
import { createBuildah, type Buildah, type ImageConfig } from './image-buildah.ts'

const NAME = 'pipewright'

/** All that a build of the image needs. @param folder for its store, its base and a copy of the checkout */
export async function prepareImage(folder: string): Promise<Buildah> {
  const buildah = createBuildah(join(folder, 'store'), copyOfCheckout(folder))
  await makeBase(buildah, folder)
  return buildah
}

/** The image, built and laid out. */
export async function buildImageRoot(
  folder: string,
): Promise<{ readonly root: string; readonly config: ImageConfig }> {
  const buildah = await prepareImage(folder)
  await buildah.build(NAME, {})
  return { root: await buildah.layOut(NAME), config: await buildah.config(NAME) }
}

/** A checkout that nobody edits meanwhile, with what must not get into an image. */
function copyOfCheckout(folder: string): string {
  const context = join(folder, 'context')
  const needed = [
    'Dockerfile',
    '.dockerignore',
    'package.json',
    'package-lock.json',
    '.npmrc',
    'LICENSE',
    'build.ts',
    'bin',
    'src',
  ]
  for (const name of needed) cpSync(join(ROOT, name), join(context, name), { recursive: true })
  mkdirSync(join(context, '.pipewright'))
  writeFileSync(join(context, '.pipewright', 'ledger.db'), 'not for others')
  return context
}
