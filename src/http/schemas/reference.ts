/** Named examples, as OpenAPI lists them. */
export type Examples = Readonly<Record<string, { readonly summary?: string; readonly value: unknown }>>

/** What the reference shows of a route beside its schemas. */
export interface RouteReference {
  readonly request?: Examples
  /** By status. */
  readonly answers: Readonly<Record<number, Examples>>
  /** Headers of an answer, by status. */
  readonly headers?: Readonly<Record<number, Readonly<Record<string, unknown>>>>
}

declare module 'fastify' {
  interface FastifySchema {
    'x-reference'?: RouteReference
  }
}
