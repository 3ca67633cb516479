import fastJson, { type Schema } from 'fast-json-stringify'
import type { FastifySerializerCompiler } from 'fastify'
import { z } from 'zod'

/**
 * Compiles a zod response schema into a JSON serializer, once, at the start. Fields that the schema does not
 * name are left out, so that nothing spills that a store or a library put beside them. It writes and does not
 * validate: zod's own serializer costs several times as much per answer.
 */
export const compileSerializer: FastifySerializerCompiler<unknown> = ({ schema }) => {
  if (!(schema instanceof z.ZodType)) throw new Error('Response schemas are zod schemas')
  return fastJson(toSerializerSchema(schema))
}

const toSerializerSchema = (schema: z.ZodType): Schema =>
  // The two libraries type the same JSON Schema differently; as plain JSON it is neither's.
  JSON.parse(
    JSON.stringify(
      z.toJSONSchema(schema, {
        target: 'draft-7',
        io: 'output',
        unrepresentable: 'any',
        reused: 'inline',
        // Ids and formats document; to the serializer an id is an address, and a date-time goes unescaped.
        metadata: z.registry(),
        override: ({ jsonSchema }) => {
          delete jsonSchema.format
          delete jsonSchema.pattern
        },
      }),
    ),
  )
