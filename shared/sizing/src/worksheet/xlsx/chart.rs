//! The bar chart of a sheet, and the drawing that places it.

use super::{escaped, parts};
use crate::worksheet::cell::Chart;
use std::fmt::Write as _;

const CHART: &str = "http://schemas.openxmlformats.org/drawingml/2006/chart";
const MAIN: &str = "http://schemas.openxmlformats.org/drawingml/2006/main";
const OFFICE: &str = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";

/// From column and row to column and row, counted from 0: right of the tables.
const PLACE: [(u32, u32); 2] = [(7, 2), (15, 22)];

pub(super) fn drawing() -> String {
    let [(left, top), (right, bottom)] = PLACE;
    let corner = |name: &str, column: u32, row: u32| {
        format!(
            "<xdr:{name}><xdr:col>{column}</xdr:col><xdr:colOff>0</xdr:colOff>\
             <xdr:row>{row}</xdr:row><xdr:rowOff>0</xdr:rowOff></xdr:{name}>"
        )
    };
    format!(
        "{}<xdr:wsDr xmlns:xdr=\"http://schemas.openxmlformats.org/drawingml/2006/\
         spreadsheetDrawing\" xmlns:a=\"{MAIN}\"><xdr:twoCellAnchor>{}{}\
         <xdr:graphicFrame macro=\"\"><xdr:nvGraphicFramePr><xdr:cNvPr id=\"2\" name=\"Chart\"/>\
         <xdr:cNvGraphicFramePr/></xdr:nvGraphicFramePr><xdr:xfrm><a:off x=\"0\" y=\"0\"/>\
         <a:ext cx=\"0\" cy=\"0\"/></xdr:xfrm><a:graphic><a:graphicData uri=\"{CHART}\">\
         <c:chart xmlns:c=\"{CHART}\" xmlns:r=\"{OFFICE}\" r:id=\"rId1\"/></a:graphicData>\
         </a:graphic></xdr:graphicFrame><xdr:clientData/></xdr:twoCellAnchor></xdr:wsDr>",
        parts::XML,
        corner("from", left, top),
        corner("to", right, bottom)
    )
}

pub(super) fn drawing_relations(number: usize) -> String {
    parts::relation("chart", &format!("../charts/chart{number}.xml"))
}

pub(super) fn part(chart: &Chart) -> String {
    let mut names = String::new();
    for (number, name) in chart.name_cache.iter().enumerate() {
        // Writing to a string cannot fail.
        let _never_fails =
            write!(names, "<c:pt idx=\"{number}\"><c:v>{}</c:v></c:pt>", escaped(name));
    }
    let mut numbers = String::new();
    for (number, value) in chart.number_cache.iter().enumerate() {
        let _never_fails = write!(numbers, "<c:pt idx=\"{number}\"><c:v>{value}</c:v></c:pt>");
    }
    let count = chart.number_cache.len();
    let title = escaped(&chart.title);
    format!(
        "{}<c:chartSpace xmlns:c=\"{CHART}\" xmlns:a=\"{MAIN}\" xmlns:r=\"{OFFICE}\"><c:chart>\
         <c:title><c:tx><c:rich><a:bodyPr/><a:p><a:r><a:t>{title}</a:t></a:r></a:p></c:rich></c:tx>\
         <c:overlay val=\"0\"/></c:title><c:autoTitleDeleted val=\"0\"/><c:plotArea><c:layout/>\
         <c:barChart><c:barDir val=\"bar\"/><c:grouping val=\"clustered\"/>\
         <c:varyColors val=\"0\"/><c:ser><c:idx val=\"0\"/><c:order val=\"0\"/>\
         <c:spPr><a:solidFill><a:srgbClr val=\"2F6F9F\"/></a:solidFill></c:spPr>\
         <c:invertIfNegative val=\"0\"/>\
         <c:cat><c:strRef><c:f>{}</c:f><c:strCache><c:ptCount val=\"{count}\"/>{names}\
         </c:strCache></c:strRef></c:cat><c:val><c:numRef><c:f>{}</c:f><c:numCache>\
         <c:formatCode>0.000</c:formatCode><c:ptCount val=\"{count}\"/>{numbers}</c:numCache>\
         </c:numRef></c:val></c:ser><c:gapWidth val=\"50\"/><c:axId val=\"1\"/>\
         <c:axId val=\"2\"/></c:barChart><c:catAx><c:axId val=\"1\"/><c:scaling>\
         <c:orientation val=\"maxMin\"/></c:scaling><c:delete val=\"0\"/>\
         <c:axPos val=\"l\"/><c:crossAx val=\"2\"/></c:catAx><c:valAx><c:axId val=\"2\"/>\
         <c:scaling><c:orientation val=\"minMax\"/></c:scaling><c:delete val=\"0\"/>\
         <c:axPos val=\"b\"/><c:majorGridlines/><c:numFmt formatCode=\"0.00\" \
         sourceLinked=\"0\"/><c:crossAx val=\"1\"/></c:valAx></c:plotArea>\
         <c:plotVisOnly val=\"1\"/></c:chart></c:chartSpace>",
        parts::XML,
        escaped(&chart.names),
        escaped(&chart.numbers)
    )
}
