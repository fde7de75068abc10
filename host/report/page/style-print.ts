/** On paper: A4, black on white, numbered sheets, no row cut in two, headings with what they head. */
export const printStyle = `
@page {
  size: A4; margin: 16mm 16mm 18mm;
  @bottom-left { content: "memcell audit"; font: 8pt system-ui, sans-serif; color: #57606b; }
  @bottom-right { content: counter(page) " of " counter(pages); font: 8pt system-ui, sans-serif; color: #57606b; }
}
@media print {
  body { max-width: none; padding: 0; font-size: 9.5pt; line-height: 1.45; }
  h1, h3 { font-size: 10pt; }
  h2 { padding: 5mm 0 4mm; font-size: 18pt; }
  section { display: block; padding: 4mm 0 5mm; }
  h3 { padding-bottom: 2mm; font-size: 11.5pt; }
  h2, h3, h4, caption, thead, figcaption { break-after: avoid; }
  tr, li, dl > div, .short, .verdict, figure, .lane { break-inside: avoid; }
  tbody tr:nth-child(-n + 2) { break-after: avoid; }
  tbody tr:nth-last-child(-n + 2) { break-before: avoid; }
  thead { display: table-header-group; }
  th, td { padding-top: 1.1mm; padding-bottom: 1.1mm; }
  article + article { break-before: page; margin-top: 0; border-top: 0; }
  .scroll { overflow: visible; }
  .wide { min-width: 0; }
  .wide td.text { min-width: 0; }
  .verdict, .lane svg, .lane rect { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
  a { color: inherit; text-decoration: none; }
  details { display: none; }
}
`;
