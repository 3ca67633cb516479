import { AppError } from '../../errors.js'
import type { CataloguePosition } from '../../ports/discoveryCatalogue.js'

const form = /^(?<score>[0-9]{1,18})\.(?<id>[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/

export const writeCursor = ({ score, id }: CataloguePosition): string =>
  Buffer.from(`${score}.${id}`).toString('base64url')

/** Throws INVALID_REQUEST. */
export const readCursor = (cursor: string): CataloguePosition => {
  const { score, id } = form.exec(Buffer.from(cursor, 'base64url').toString('latin1'))?.groups ?? {}
  if (score === undefined || id === undefined) {
    throw new AppError('INVALID_REQUEST', 'cursor: is not a `nextCursor` of this endpoint')
  }
  return { score: BigInt(score), id }
}
