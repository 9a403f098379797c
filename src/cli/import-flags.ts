import type { SettingProblem } from '../config/setting-problem.ts'
import type { Target } from './imported-files.ts'

/** How `import` was called. */
export interface ImportCall {
  readonly key: string | undefined
  readonly id: string | undefined
  readonly all: boolean
  /** A flag without its value is a problem of its own. */
  readonly service: string | true | undefined
  readonly file: string | true | undefined
  readonly outputDir: string | true | undefined
  readonly form: 'yaml' | 'json'
}

/** What is wrong with how it was called. */
export function importProblems(call: ImportCall): readonly SettingProblem[] {
  return call.all ? problemsOfAll(call) : problemsOfOne(call)
}

function problemsOfOne({ key, id, outputDir }: ImportCall): readonly SettingProblem[] {
  const folder =
    outputDir === undefined ? [] : [problem('--output-dir', 'it is for --all', 'give --file, or add --all')]
  if (key === undefined)
    return [problem('key', 'it is missing', 'give pipewright import <key> <id>, or --all'), ...folder]
  if (id === undefined)
    return [problem('id', 'it is missing', 'give pipewright import <key> <id>'), ...folder]
  return folder
}

function problemsOfAll({ key, id, service, file, outputDir, form }: ImportCall): readonly SettingProblem[] {
  const isFile = file !== undefined || outputDir !== undefined
  return [
    ...(key?.includes('/') === true || id !== undefined
      ? [
          problem(
            'key',
            'with --all each pipe gets a key of its own',
            'give the name of a Service, or nothing',
          ),
        ]
      : []),
    ...(key !== undefined && service !== undefined
      ? [problem('--service', 'the Service is named already', 'give its name once')]
      : []),
    ...(file !== undefined && outputDir !== undefined
      ? [problem('--output-dir', 'there is --file', 'give one of the two')]
      : []),
    ...(isFile && form === 'json'
      ? [problem('--output', 'manifests are written as YAML', 'leave it out, or print them')]
      : []),
  ]
}

function problem(from: string, why: string, right: string): SettingProblem {
  return { setting: undefined, from, given: undefined, why, right }
}

/** Where the manifests go, of a call without a problem. */
export function targetOf({ file, outputDir, form }: ImportCall): Target {
  if (typeof outputDir === 'string') return { is: 'folder', folder: outputDir }
  return typeof file === 'string' ? { is: 'file', file } : { is: 'printed', as: form }
}
