import fastJson, { type Schema } from 'fast-json-stringify'
import type { FastifySerializerCompiler } from 'fastify'
import { z } from 'zod'

type Serializer = (response: unknown) => string

/** Drops fields that the schema does not name. Does not validate: zod's serializer costs several times as much. */
export const compileSerializer: FastifySerializerCompiler<unknown> = ({ schema }) => {
  if (!(schema instanceof z.ZodType)) throw new Error('Response schemas must be zod schemas')
  const serialize = compiled.get(schema) ?? fastJson(toSerializerSchema(schema))
  compiled.set(schema, serialize)
  return serialize
}

const compiled = new WeakMap<z.ZodType, Serializer>()

const toSerializerSchema = (schema: z.ZodType): Schema =>
  JSON.parse(
    JSON.stringify(
      z.toJSONSchema(schema, {
        target: 'draft-7',
        io: 'output',
        unrepresentable: 'any',
        reused: 'inline',
        // fast-json-stringify treats ids as references and does not escape date-time strings.
        metadata: z.registry(),
        override: ({ jsonSchema }) => {
          delete jsonSchema.format
          delete jsonSchema.pattern
        },
      }),
    ),
  )
