import { z } from 'zod'

const entry = z.object({
  version: z.string().optional(),
  license: z.string().optional(),
  integrity: z.string().optional(),
  link: z.boolean().optional(),
  dev: z.boolean().optional(),
  devOptional: z.boolean().optional(),
  hasInstallScript: z.boolean().optional(),
})

const lockShape = z.object({ packages: z.record(z.string(), entry) })

/** A package of the lock file. */
interface LockedPackage extends z.infer<typeof entry> {
  readonly name: string
}

const folder = 'node_modules/'

export const readLock = (text: string): readonly LockedPackage[] =>
  Object.entries(lockShape.parse(JSON.parse(text)).packages)
    .filter(([path]) => path.includes(folder))
    .map(([path, each]) => ({ ...each, name: path.slice(path.lastIndexOf(folder) + folder.length) }))

export const isProduction = ({ dev, devOptional }: LockedPackage): boolean =>
  dev !== true && devOptional !== true

export const licenseOf = ({ license }: LockedPackage): string => license ?? 'not stated'

const introduction = `Quittance
Licensed under the Apache License, Version 2.0; see LICENSE.

The service runs with the packages below, as published on npm. Its build bundles the code of most of them: their licenses
and copyright notices are in dist/licenses.txt of an installation or an image. The others carry them in a file of their own,
their README or their package.json, in node_modules.
\`npm run notice\` writes this file.
`

/** NOTICE: the packages of an installation without development dependencies, by license. */
export const renderNotice = (lock: readonly LockedPackage[]): string => {
  const production = lock.filter(isProduction)
  const sections = [...new Set(production.map(licenseOf))].sort().map((license) => {
    const ofLicense = production.filter((each) => licenseOf(each) === license)
    const lines = ofLicense.map(({ name, version }) => `  ${name} ${version ?? ''}\n`)
    return `${license}\n${[...new Set(lines)].sort().join('')}`
  })
  return [introduction, ...sections].join('\n')
}
