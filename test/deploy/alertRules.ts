import { fileURLToPath } from 'node:url'
import { parse as parseYaml } from 'yaml'
import { z } from 'zod'
import { readText } from '../support/readText.js'

const rule = z.strictObject({
  alert: z.string(),
  expr: z.string(),
  for: z
    .string()
    .regex(/^[1-9]\d*m$/)
    .optional(),
  labels: z.strictObject({ severity: z.enum(['page', 'ticket']) }),
  annotations: z.strictObject({ summary: z.string(), description: z.string(), runbook_url: z.string() }),
})

const file = z.strictObject({
  groups: z.array(z.strictObject({ name: z.string(), rules: z.array(rule).nonempty() })).nonempty(),
})

export type AlertRule = z.infer<typeof rule>

const path = 'deploy/prometheus/alerts.yml'

export const alertsFile = fileURLToPath(new URL(`../../${path}`, import.meta.url))

export const alertRules: readonly AlertRule[] = file
  .parse(parseYaml(readText(path)))
  .groups.flatMap(({ rules }) => rules)

/** How long the expression must hold before the alert fires. */
export const minutesOf = ({ for: duration = '0m' }: AlertRule): number => Number.parseInt(duration, 10)
