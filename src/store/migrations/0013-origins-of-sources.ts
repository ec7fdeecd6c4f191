/** The repository and folder, or the path of the folder, from which a source was applied last. */
export const originsOfSources = [`alter table source_realm add column origin text`]
