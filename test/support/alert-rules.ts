import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'
import { z } from 'zod'
import { ROOT } from './process.ts'

/** The rules that the chart and whoever runs without it use. */
export const RULES_FILE = join(ROOT, 'helm', 'rules', 'pipewright.rules.yaml')

const AlertRule = z.strictObject({
  alert: z.string().regex(/^Pipewright[A-Za-z]+$/),
  expr: z.string(),
  for: z
    .string()
    .regex(/^\d+[smhd]$/)
    .optional(),
  keep_firing_for: z.literal('10m').optional(),
  labels: z.strictObject({ severity: z.enum(['critical', 'warning', 'info']) }),
  annotations: z.strictObject({
    summary: z.string(),
    description: z.string(),
    runbook_url: z.string(),
    resources: z.string().optional(),
    processes: z.string().optional(),
  }),
})
export type AlertRule = z.infer<typeof AlertRule>

const RulesFile = z.strictObject({
  groups: z.array(z.strictObject({ name: z.string(), rules: z.array(AlertRule) })),
})

/** @throws {z.ZodError} when a rule lacks something that each of ours has */
export function alertRules(): readonly AlertRule[] {
  return RulesFile.parse(parse(readFileSync(RULES_FILE, 'utf8'))).groups.flatMap(({ rules }) => rules)
}
