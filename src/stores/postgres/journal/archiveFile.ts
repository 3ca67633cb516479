import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { open, rm } from 'node:fs/promises'
import { createInterface } from 'node:readline'
import { pipeline } from 'node:stream/promises'
import { constants, createGunzip, gunzipSync } from 'node:zlib'
import { isFileError } from '../backup/writeBackup.js'

const headerId = 'id,'

/** RFC 4180; null is an empty field, and an empty text is quoted. */
export const toCsv = (fields: readonly (string | null)[]): string =>
  `${fields.map((field) => (field === null ? '' : quoteField(field))).join()}\n`

// Newer versions of Node end lines at the last two as well, and a quoted field may have ends of lines.
const quoteField = (field: string): string =>
  field === '' || /[",\r\n\u2028\u2029]/.test(field) ? `"${field.replaceAll('"', '""')}"` : field

/** Ids of the rows; rows end where all quotation marks are closed. Throws where the file is damaged or foreign. */
export async function* readIds(file: string): AsyncGenerator<string> {
  const lines = createInterface({ input: createReadStream(file).pipe(createGunzip()), crlfDelay: 0 })
  let record = ''
  let isHeader = true
  for await (const line of lines) {
    record += record === '' ? line : `\n${line}`
    if (record.split('"').length % 2 === 0) continue
    if (isHeader && !record.startsWith(headerId)) throw new Error(`${file} is no archive of settlements.`)
    if (!isHeader) yield record.slice(0, record.indexOf(','))
    isHeader = false
    record = ''
  }
  if (isHeader || record !== '') throw new Error(`${file} is damaged.`)
}

export const verifyArchive = async (
  file: string,
): Promise<{ readonly sha256: string; readonly listed: number }> => {
  const hash = createHash('sha256')
  await pipeline(createReadStream(file), hash)
  let listed = 0
  for await (const _ of readIds(file)) listed += 1
  return { sha256: hash.digest('hex'), listed }
}

const firstBytes = 1_024

/**
 * Removes what an archive wrote that was ended by force. It was never renamed, and only a renamed file is deleted from, so the
 * database still has all that it lists. The caller holds the lock of archives. Throws where another command wrote the file.
 */
export const removeUnfinished = async (partial: string): Promise<void> => {
  const start = await readStart(partial)
  if (start === null) return
  // It may have been ended before its header was written.
  if (!start.startsWith(headerId.slice(0, start.length))) {
    throw new Error(
      `${partial} exists, and no archive wrote it: a backup to the same name may be under way. Nothing was deleted. Remove it, or name another file.`,
    )
  }
  await rm(partial)
}

/** The decompressed start, as long as a header's; null where there is no file. */
const readStart = async (path: string): Promise<string | null> => {
  const handle = await open(path, 'r').catch((error: unknown) => {
    if (isFileError(error, 'ENOENT')) return null
    throw error
  })
  if (handle === null) return null
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(firstBytes), 0, firstBytes, 0)
    if (bytesRead === 0) return ''
    const text = gunzipSync(buffer.subarray(0, bytesRead), { finishFlush: constants.Z_SYNC_FLUSH })
    return text.subarray(0, headerId.length).toString()
  } catch (error) {
    if (isFileError(error, 'Z_DATA_ERROR')) return 'not compressed'
    throw error
  } finally {
    await handle.close()
  }
}
