import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { parse } from 'yaml'
import { z } from 'zod'
import { inlineComponents } from './support/openapi.js'

const text = readFileSync(new URL('../openapi/openapi.yaml', import.meta.url), 'utf8')
const parameter = z.looseObject({
  name: z.string(),
  in: z.string(),
  schema: z.looseObject({ type: z.unknown() }),
})
const operation = z.looseObject({ parameters: z.array(parameter).optional() })
const named = z.looseObject({ enum: z.array(z.string()).optional() })
const document = z
  .looseObject({
    paths: z.record(z.string(), z.record(z.string(), operation)),
    webhooks: z.record(z.string(), z.unknown()),
    components: z.looseObject({ schemas: z.record(z.string(), named) }),
  })
  .parse(inlineComponents(parse(text)))

it('numbers in queries are integers', () => {
  const numeric = Object.values(document.paths)
    .flatMap((operations) => Object.values(operations))
    .flatMap(({ parameters = [] }) => parameters)
    .filter(({ name }) => ['limit', 'wait', 'graceSeconds'].includes(name))
  expect(numeric.length).toBeGreaterThanOrEqual(7)
  expect(new Set(numeric.map(({ schema }) => schema.type))).toEqual(new Set(['integer']))
})

it('reasons and operational codes are enums, and webhooks are described', () => {
  const { schemas } = document.components
  for (const name of ['Reason', 'OperationalCode']) expect(schemas[name]?.enum?.length).toBeGreaterThan(5)
  expect(Object.keys(document.webhooks)).toContain('settlement.confirmed')
})
