import { cpSync } from 'node:fs'
import { join } from 'node:path'
import { writeBundle } from '../../build.ts'
import { ROOT } from './process.ts'

/** Makes a folder as in the image: the command and the bundle, without packages. @returns the command */
export async function layOutBundle(folder: string): Promise<string> {
  for (const name of ['bin', 'package.json'])
    cpSync(join(ROOT, name), join(folder, name), { recursive: true })
  await writeBundle(join(folder, 'dist'))
  return join(folder, 'bin/pipewright.js')
}
