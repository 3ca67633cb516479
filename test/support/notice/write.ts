import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { showHelp } from '../showHelp.js'
import { readLock, renderNotice } from './renderNotice.js'

showHelp(
  'Usage: npm run notice\n\nWrites NOTICE: the licences of the production packages in package-lock.json.',
)

const pathOf = (name: string) => fileURLToPath(new URL(`../../../${name}`, import.meta.url))

writeFileSync(pathOf('NOTICE'), renderNotice(readLock(readFileSync(pathOf('package-lock.json'), 'utf8'))))
